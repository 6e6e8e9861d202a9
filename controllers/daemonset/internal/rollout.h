#pragma once

// The next step of a rolling update. Pure.

#include <cstddef>
#include <string>
#include <vector>

#include "api/json.h"
#include "controllers/daemonset/internal/daemon_nodes.h"

namespace terrarium::controllers::daemonset {

struct RolloutLimits {
  int surge = 0;
  int unavailable = 0;
};
// Percentages of the desired pods, both rounded up. When both are 0, one pod may be unavailable.
RolloutLimits LimitsOf(const api::Json& daemon_set, int desired);
// Whether a node may have two pods in a rolling update.
bool AllowsSurge(const api::Json& daemon_set);

// Pods to delete, and nodes to create pods for; at most `most` of each.
struct PodChanges {
  std::vector<std::string> create;
  std::vector<const DaemonPod*> remove;

  bool IsEmpty() const { return create.empty() && remove.empty(); }
};
PodChanges NextRolloutChanges(const DaemonNodes& nodes, const RolloutLimits& limits, std::size_t most);

}  // namespace terrarium::controllers::daemonset
