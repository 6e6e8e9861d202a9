#pragma once

#include <cstddef>
#include <vector>

#include "api/base/prng.h"
#include "kubelet-fake/scheduler/internal/cluster.h"
#include "kubelet-fake/scheduler/internal/diagnosis.h"
#include "kubelet-fake/scheduler/internal/scores.h"

namespace terrarium::kubelet_fake::scheduling {

// How many feasible nodes are enough: all up to 100, then a share of them that falls from 50 % to 5 %.
std::size_t GoodNodesWanted(std::size_t nodes);

// Picks nodes for pods, one pod at a time.
class NodeChooser {
 public:
  explicit NodeChooser(api::Prng& prng) : prng_(prng) {}

  // The best of the nodes that pass the filters, or nullptr with the reasons in `why`. The node to which the
  // pod is nominated is taken if it passes. Ties are broken at random.
  NodeInfo* Choose(Cluster& cluster, const PodRecord& pod, Diagnosis& why);
  // After a failure: the nodes on which the pod might fit if other pods were gone.
  const std::vector<NodeInfo*>& not_hopeless() const { return not_hopeless_; }

 private:
  // Puts at most `wanted` nodes into good_, starting at `start` and wrapping around. Returns where it ended.
  std::size_t FindGood(Cluster& cluster, const std::vector<NodeInfo*>& nodes, std::size_t start,
                       std::size_t wanted, const PodRecord& pod, Diagnosis& why);
  NodeInfo* BestOfGood(const PodClass& pod_class);

  api::Prng& prng_;
  std::size_t start_ = 0;  // the next search begins where the last one ended, so that every node has its turn
  // Members only to reuse their memory.
  std::vector<NodeInfo*> named_;
  std::vector<NodeInfo*> good_;
  std::vector<NodeInfo*> not_hopeless_;
  bool any_taint_ = false;  // among them
  NodeScores scores_;
  std::vector<std::size_t> best_;
};

}  // namespace terrarium::kubelet_fake::scheduling
