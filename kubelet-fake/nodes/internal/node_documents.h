#pragma once

// What the agent writes, as documents. Pure.

#include <optional>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/json.h"
#include "api/object.h"
#include "kubelet-fake/nodes/node_agent.h"

namespace terrarium::kubelet_fake {

// What the machine itself is: where it is reached and how it calls itself.
struct Machine {
  std::string ip;
  std::string uuid;
};

// The n-th address of the nodes' network: 172.18.0.2 for 0.
std::string NodeAddress(int n);
// The n-th range of the pods' network: 10.244.0.0/24 for 0; empty when they are used up.
std::string PodRange(int n);

// node-<index> as it registers itself, ready.
api::Json InitialNode(const NodeAgentOptions& options, int index, const Machine& machine, api::Time now);

// The patch that completes a node made by somebody else: labels and podCIDR. nullopt: nothing is missing.
std::optional<api::Json> AdoptionPatch(const api::Json& node, const std::string& pod_range);

enum class StatusReport {
  kRepair,     // write only if something is missing or Unknown
  kHeartbeat,  // and say that the node is alive
  kRecovery,   // and put every condition right, whoever set it
};
// The patch of the status. nullopt: nothing to write.
std::optional<api::Json> StatusPatch(const api::Json& node, const NodeAgentOptions& options, const Machine& machine,
                                     StatusReport report, api::Time now);

// The node's InternalIP; empty when it has none.
std::string_view InternalIpOf(const api::Json& node);

// The Lease by which the node shows that it is alive; `existing` is what there is of it (null: nothing).
api::Json LeaseOf(const api::Object& node, api::Json existing, api::Time now);

}  // namespace terrarium::kubelet_fake
