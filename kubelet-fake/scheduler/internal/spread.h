#pragma once

// Topology spread constraints, and the pods and nodes that they count.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/core_v1/node_affinity.h"
#include "api/json.h"
#include "api/object.h"
#include "api/selector/label_selector.h"
#include "kubelet-fake/scheduler/internal/node_info.h"
#include "kubelet-fake/scheduler/internal/taints.h"
#include "kubelet-fake/scheduler/internal/topology.h"

namespace terrarium::kubelet_fake::scheduling {

inline constexpr std::string_view kHostKey = "kubernetes.io/hostname";
inline constexpr std::string_view kZoneKey = "topology.kubernetes.io/zone";

struct SpreadConstraint {
  std::string topology_key;
  api::LabelSelector selector;
  std::int64_t max_skew = 1;
  std::int64_t min_domains = 1;
  // Whether nodes that the pod's node affinity or the taints rule out are left out.
  bool honor_affinity = true;
  bool honor_taints = false;
  std::size_t key = 0;  // the number of the topology key; set by Cluster

  // As in kube-scheduler, an empty selector matches the pod itself, but counts no other pod.
  bool Counts(const api::ObjectHeader& pod) const {
    return !selector.selects_everything() && selector.Matches(pod);
  }
  // Equal for equivalent constraints.
  std::string Text() const;
};

// Those of the pod with that whenUnsatisfiable: DoNotSchedule or ScheduleAnyway.
std::vector<SpreadConstraint> SpreadConstraintsOf(const api::ObjectHeader& header, const api::Json& pod_spec,
                                                  std::string_view when_unsatisfiable);
// ScheduleAnyway, for pods that declare none and belong to a Service or a workload.
std::vector<SpreadConstraint> DefaultSpreadConstraints(const api::LabelSelector& selector);

// The constraints that some classes of pods have in common, with the counts of what is placed.
struct SpreadGroup {
  std::string ns;
  std::vector<SpreadConstraint> constraints;
  // A node counts only if it has the keys of all constraints. Not so for the default constraints.
  bool require_all = true;
  api::NodeAffinity affinity;
  std::vector<Toleration> tolerations;
  bool hard = false;

  std::vector<DomainCounts> pods;   // for each constraint: the pods that it selects and that do not terminate
  std::vector<DomainCounts> nodes;  // for each constraint: the nodes that count; of hard groups only
  bool stale = true;                // the counts must be computed again before use

  // Whether the pods on the node, and the node itself, count for the constraint.
  bool Includes(const SpreadConstraint& constraint, const NodeInfo& node) const;
  bool HasAllKeys(const NodeInfo& node) const;
  void CountPods(std::size_t constraint, const NodeInfo& node, std::int64_t change);
  void CountNode(const NodeInfo& node, int change);
  void Clear();
  // The fewest pods in any domain; 0 if there are fewer domains than the constraint asks for.
  std::int64_t Least(std::size_t constraint) const;

 private:
  mutable std::vector<std::int64_t> least_;  // -1: unknown
};

}  // namespace terrarium::kubelet_fake::scheduling
