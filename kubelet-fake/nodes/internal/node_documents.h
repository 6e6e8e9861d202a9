#pragma once

// The documents that the agent writes. Pure functions.

#include <optional>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/json.h"
#include "api/object.h"
#include "kubelet-fake/nodes/node_agent.h"

namespace terrarium::kubelet_fake {

// Properties of the machine itself.
struct Machine {
  std::string ip;
  std::string uuid;
};

// The n-th address of the node network: 172.18.0.2 for 0.
std::string NodeAddress(int n);
// The n-th range of the pod network: 10.244.0.0/24 for 0; empty when all ranges are used.
std::string PodRange(int n);

// node-<index> as it registers itself, ready.
api::Json InitialNode(const NodeAgentOptions& options, int index, const Machine& machine, api::Time now);

// The patch that adds missing labels and podCIDR to a node that a client created. nullopt: nothing is
// missing.
std::optional<api::Json> AdoptionPatch(const api::Json& node, const std::string& pod_range);

enum class StatusReport {
  kRepair,     // write only if something is missing or Unknown
  kHeartbeat,  // also update the heartbeat times
  kRecovery,   // also make every condition healthy, even one that a client set
};
// The status patch. nullopt: nothing to write.
std::optional<api::Json> StatusPatch(const api::Json& node, const NodeAgentOptions& options,
                                     const Machine& machine, StatusReport report, api::Time now);

// The node's InternalIP; empty when it has none.
std::string_view InternalIpOf(const api::Json& node);

// The renewed Lease of the node, based on `existing` (null: there is none yet).
api::Json LeaseOf(const api::Object& node, api::Json existing, api::Time now);

}  // namespace terrarium::kubelet_fake
