#pragma once

// What a DaemonSet does on one node, and what the node adds to its status. Pure.

#include <string>
#include <vector>

#include "api/base/clock.h"
#include "controllers/daemonset/internal/daemon_pod.h"
#include "controllers/daemonset/internal/placement.h"

namespace terrarium::controllers::daemonset {

struct PlanRules {
  std::string hash = {};        // of the current revision
  std::string generation = {};  // of the template, as on pods; empty: none
  api::Duration min_ready{};
  bool surge = false;  // a rolling update may run two pods on a node

  friend bool operator==(const PlanRules&, const PlanRules&) = default;
};

// The state of a node in a rolling update. Without surge, a pod is replaced by deleting it; with surge, by
// creating the new one first.
enum class RolloutStep {
  kNone,       // nothing to do
  kWait,       // a replacement is under way: counts against maxUnavailable, or maxSurge
  kReplace,    // the old pod is not available: it is replaced regardless of the limits
  kCandidate,  // the old pod is available: it is replaced as far as the limits allow
  kRetire,     // surge: the old pod is deleted
  kUnfit,      // surge: the node no longer gets a pod; its available pod goes when there are enough others
  kLost,       // surge: an old pod of a node that does not exist
};

struct NodePlan {
  // The node's share of the status.
  bool desired = false;
  bool current = false;
  bool misscheduled = false;
  bool ready = false;
  bool available = false;
  bool updated = false;

  // Regardless of rolling updates.
  bool create = false;
  std::vector<const DaemonPod*> ended;    // failed and succeeded pods, to delete
  std::vector<const DaemonPod*> surplus;  // other pods to delete

  RolloutStep step = RolloutStep::kNone;
  const DaemonPod* old = nullptr;  // the pod that a rolling update replaces
  bool serves = false;             // surge: the node has an available pod
  // When the plan changes with no event, because a ready pod becomes available; kNoTime: never.
  api::Time changes_at = kNoTime;

  bool IsBusy() const { return create || !ended.empty() || !surplus.empty(); }
};

// Whether the pod has the current template.
bool IsUpdated(const DaemonPod& pod, const PlanRules& rules);

// `pods` are the DaemonSet's pods on or for a node, in any order; `exists`: the node does. The plan points
// into `pods`.
NodePlan PlanNode(bool exists, NodeFit fit, std::vector<const DaemonPod*> pods, const PlanRules& rules,
                  api::Time now);

}  // namespace terrarium::controllers::daemonset
