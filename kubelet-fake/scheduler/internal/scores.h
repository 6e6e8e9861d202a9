#pragma once

// How well suited the feasible nodes are for a pod. Each score is a plugin of kube-scheduler's default
// profile, with its weight there. ImageLocality has no effect, since nodes here report no images.

#include <cstdint>
#include <vector>

#include "kubelet-fake/scheduler/internal/node_info.h"
#include "kubelet-fake/scheduler/internal/pod_class.h"

namespace terrarium::kubelet_fake::scheduling {

// How empty the node would be with the pod on it, from 0 to 100: the mean over cpu and memory.
std::int64_t LeastAllocatedScore(const PodRequests& pod, const NodeInfo& node);
// How evenly cpu and memory would be used with the pod compared with before: 75 when nothing changes, up to
// 100 when the pod evens the use out, down to 50. REQUIRES: the pod requests cpu or memory.
std::int64_t BalancedAllocationScore(const Resources& pod, const NodeInfo& node);

// Adds scores up for a list of nodes. Reuses its memory.
class NodeScores {
 public:
  // The scores of the nodes, in their order. REQUIRES: the class's groups are current. Scores that are equal
  // for all nodes may be left out.
  const std::vector<std::int64_t>& Of(const PodClass& pod_class, const std::vector<NodeInfo*>& nodes,
                                      bool any_taint);

 private:
  // Adds `weight` times the node's share of the highest `count`, inverted for a malus. Nothing when all
  // counts are 0.
  template <typename Count>
  void AddShare(const std::vector<NodeInfo*>& nodes, std::int64_t weight, bool malus, const Count& count);
  void AddSpread(const SpreadGroup& group, const std::vector<NodeInfo*>& nodes);
  void AddPodAffinity(const PodClass& pod_class, const std::vector<NodeInfo*>& nodes);

  std::vector<std::int64_t> scores_;
  std::vector<std::int64_t> part_;
  std::vector<double> spread_weights_;
  std::vector<bool> domain_seen_;
};

}  // namespace terrarium::kubelet_fake::scheduling
