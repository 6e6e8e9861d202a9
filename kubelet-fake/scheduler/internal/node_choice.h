#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "api/base/prng.h"
#include "kubelet-fake/scheduler/internal/cluster.h"
#include "kubelet-fake/scheduler/internal/diagnosis.h"

namespace terrarium::kubelet_fake::scheduling {

// How many feasible nodes are enough: all up to 100, then a share of them that falls from 50 % to 5 %.
std::size_t GoodNodesWanted(std::size_t nodes);

// How empty the node would be with the pod on it, from 0 to 100: the mean over cpu and memory.
std::int64_t LeastAllocatedScore(const PodRequests& pod, const NodeInfo& node);

// Picks nodes for pods, one pod at a time.
class NodeChooser {
 public:
  explicit NodeChooser(api::Prng& prng) : prng_(prng) {}

  // The best of the nodes that pass the filters, or nullptr with the reasons in `why`. Ties are broken at
  // random.
  NodeInfo* Choose(Cluster& cluster, const PodClass& pod_class, Diagnosis& why);

 private:
  // Puts at most `wanted` nodes into good_, starting at `start` and wrapping around. Returns where it ended.
  std::size_t FindGood(const std::vector<NodeInfo*>& nodes, std::size_t start, std::size_t wanted,
                       const PodClass& pod_class, Diagnosis& why);
  NodeInfo* BestOfGood(const Requirements& wants);
  // Adds to each score `weight` times the node's share of the highest `count`, inverted for a malus.
  template <typename Count>
  void AddShare(std::int64_t weight, bool malus, const Count& count);

  api::Prng& prng_;
  std::size_t start_ = 0;  // the next search begins where the last one ended, so that every node has its turn
  // Members only to reuse their memory.
  std::vector<NodeInfo*> named_;
  std::vector<NodeInfo*> good_;
  bool any_taint_ = false;  // among them
  std::vector<std::int64_t> scores_;
  std::vector<std::int64_t> part_;
  std::vector<std::size_t> best_;
};

}  // namespace terrarium::kubelet_fake::scheduling
