#pragma once

// The node part of the kubelet: registers the initial nodes, keeps every Node's status and Lease up to date,
// and simulates machine failures.

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
  int nodes = 3;                              // node-0 .. node-<N-1>, registered at start unless they exist
  std::map<std::string, std::string> labels;  // of the registered nodes; override the agent's
  // The capacity of a node where its creator does not set it.
  std::string cpu = "8";
  std::string memory = "32Gi";
  std::string ephemeral_storage = "100Gi";
  int pods = 110;
  std::set<std::string> failed;  // machines that have already failed, see FailedNodes()
};

// Manages every Node object, including those that clients create through the API. The agent fills in missing
// labels, podCIDR and status. It leaves conditions as clients set them (a manual DiskPressure=True stays),
// except that it repairs missing and Unknown ones. It renews Leases every 10 s and sends status heartbeats
// every 5 min, both on background timers and spread over time. A node that a client deletes comes back only
// when a client creates it, or with the next agent if it is one of the first N. Of the kubelet's events about
// nodes, the agent records NodeReady, NodeSchedulable and NodeNotSchedulable; the others would be the same
// for every node at every start.
//
// Single-threaded, on the kubelet's lane. Client, informers and recorder outlive it; it outlives the kubelet.
class NodeAgent : public NodeView {
 public:
  NodeAgent(const api::Env& env, api::Client& client, controllers::InformerSet& informers,
            controllers::EventRecorder& recorder, NodeAgentOptions options);
  ~NodeAgent() override;

  // REQUIRES: the node informer has synced.
  void Start();

  // Fails the machine: it renews no lease, reports no status, and its pods do not change. kUnchanged: it had
  // failed already. 404 when there is no such node.
  api::Result<api::Change> Fail(std::string_view name);
  // Brings the machine back, ready immediately. kUnchanged: it was up. 404 when there is no such node.
  api::Result<api::Change> Recover(std::string_view name);
  std::set<std::string> FailedNodes() const;

  bool IsUp(std::string_view node) const override;
  std::string InternalIp(std::string_view node) const override;
  void OnChange(std::function<void(const std::string& node)> changed) override;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // shared with the informer's handlers, which may outlive the agent
};

}  // namespace terrarium::kubelet_fake
