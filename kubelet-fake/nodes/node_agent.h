#pragma once

// The nodes' side of the kubelet: registers the machines there are from the start, keeps every Node's status and Lease
// alive, and can take a machine away.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "api/base/env.h"
#include "api/base/status.h"
#include "api/client.h"
#include "controllers/runtime/event_recorder.h"
#include "controllers/runtime/informer.h"
#include "kubelet-fake/kubelet/node_view.h"

namespace terrarium::kubelet_fake {

struct NodeAgentOptions {
  int nodes = 3;                              // node-0 .. node-<N-1>, registered at start where they are missing
  std::map<std::string, std::string> labels;  // of the registered nodes, over the agent's own
  // What a node has, where its creator does not say.
  std::string cpu = "8";
  std::string memory = "32Gi";
  std::string ephemeral_storage = "100Gi";
  int pods = 110;
  std::set<std::string> failed;  // machines that have been taken away already, see FailedNodes()
};

// Runs every Node object, those created through the API too: what its creator left out of labels, podCIDR and status is
// filled in, and what anybody says in a condition stands (a hand-made DiskPressure=True stays), except that a missing
// or Unknown one is put right. Leases are renewed every 10 s and status heartbeats sent every 5 min, both on
// housekeeping timers and spread over time. A node deleted through the API is forgotten and comes back only when
// somebody creates it, or with the next agent when it is one of the first N. Of the kubelet's events about nodes there
// are NodeReady, NodeSchedulable and NodeNotSchedulable; the others would say the same of every node at every start.
//
// Single-threaded, on the kubelet's lane. Client, informers and recorder outlive it; it outlives the kubelet.
class NodeAgent : public NodeView {
 public:
  NodeAgent(const api::Env& env, api::Client& client, controllers::InformerSet& informers,
            controllers::EventRecorder& recorder, NodeAgentOptions options);
  ~NodeAgent() override;

  // REQUIRES: the informer of nodes has synced.
  void Start();

  // Takes the machine away: no leases, no status, and its pods stand still. False: it had been taken away before.
  // 404 when there is no such node.
  api::Result<bool> Fail(std::string_view name);
  // Brings it back, ready at once. False: it was up.
  api::Result<bool> Recover(std::string_view name);
  std::set<std::string> FailedNodes() const;

  bool IsUp(std::string_view node) const override;
  std::string InternalIp(std::string_view node) const override;
  void OnChange(std::function<void(const std::string& node)> changed) override;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // shared with the informer's handlers, which may be called after the agent has gone
};

}  // namespace terrarium::kubelet_fake
