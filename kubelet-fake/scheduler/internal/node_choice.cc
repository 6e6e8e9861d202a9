#include "kubelet-fake/scheduler/internal/node_choice.h"

#include <algorithm>

#include "kubelet-fake/scheduler/internal/filters.h"

namespace terrarium::kubelet_fake::scheduling {
namespace {

constexpr std::int64_t kScoreMax = 100;
// Weights of kube-scheduler's default profile; least allocated has weight 1.
constexpr std::int64_t kTaintWeight = 3;
constexpr std::int64_t kNodeAffinityWeight = 2;

// In floating point, since an integer division would cost more than the rest of the decision. Exact up to 80
// TiB.
std::int64_t FreeShare(std::int64_t requested, std::int64_t allocatable) {
  if (requested > allocatable) return 0;
  return static_cast<std::int64_t>(static_cast<double>((allocatable - requested) * kScoreMax) /
                                   static_cast<double>(allocatable));
}

std::int64_t UnwelcomeTaints(const Requirements& wants, const NodeFacts& node) {
  return std::count_if(node.taints.begin(), node.taints.end(), [&](const Taint& taint) {
    return !taint.KeepsPodsAway() && !Tolerated(taint, wants.tolerations);
  });
}

}  // namespace

// mirrors numFeasibleNodesToFind() of pkg/scheduler/schedule_one.go, 1.36.
std::size_t GoodNodesWanted(std::size_t nodes) {
  constexpr std::size_t kAtLeast = 100;
  if (nodes < kAtLeast) return nodes;
  const std::size_t percentage = nodes / 125 >= 45 ? 5 : 50 - nodes / 125;
  return std::max(kAtLeast, nodes * percentage / 100);
}

std::int64_t LeastAllocatedScore(const PodRequests& pod, const NodeInfo& node) {
  const Resources& allocatable = node.facts.allocatable.resources;
  const bool has_cpu = allocatable.milli_cpu > 0;
  const bool has_memory = allocatable.memory > 0;
  std::int64_t sum = 0;
  if (has_cpu) sum += FreeShare(node.scoring_milli_cpu + pod.scoring_milli_cpu, allocatable.milli_cpu);
  if (has_memory) sum += FreeShare(node.scoring_memory + pod.scoring_memory, allocatable.memory);
  return has_cpu && has_memory ? sum / 2 : sum;
}

NodeInfo* NodeChooser::Choose(Cluster& cluster, const PodClass& pod_class, Diagnosis& why) {
  const std::vector<NodeInfo*>& all = cluster.nodes();
  cluster.Refresh(pod_class);
  good_.clear();
  any_taint_ = false;
  if (const auto& names = pod_class.wants.node_affinity.node_names) {
    if (names->empty()) return why.AffinityConflict(), nullptr;
    named_.clear();
    for (const std::string& name : *names) {
      if (NodeInfo* node = cluster.FindNode(name)) named_.push_back(node);
    }
    why.OnlyNamedNodesSeen(static_cast<int>(all.size() - named_.size()));
    FindGood(named_, 0, named_.size(), pod_class, why);
  } else {
    start_ = FindGood(all, start_, GoodNodesWanted(all.size()), pod_class, why);
  }
  if (good_.empty()) return nullptr;
  return good_.size() == 1 ? good_.front() : BestOfGood(pod_class.wants);
}

std::size_t NodeChooser::FindGood(const std::vector<NodeInfo*>& nodes, std::size_t start, std::size_t wanted,
                                  const PodClass& pod_class, Diagnosis& why) {
  std::size_t at = start < nodes.size() ? start : 0;
  for (std::size_t seen = 0; seen < nodes.size() && good_.size() < wanted; ++seen) {
    NodeInfo* node = nodes[at];
    if (PassesFilters(pod_class, *node, why)) {
      good_.push_back(node);
      any_taint_ |= !node->facts.taints.empty();
    }
    if (++at == nodes.size()) at = 0;
  }
  return at;
}

NodeInfo* NodeChooser::BestOfGood(const Requirements& wants) {
  scores_.clear();
  for (const NodeInfo* node : good_) scores_.push_back(LeastAllocatedScore(wants.resources, *node));
  if (any_taint_) {
    AddShare(kTaintWeight, true, [&](const NodeInfo& node) { return UnwelcomeTaints(wants, node.facts); });
  }
  if (!wants.node_affinity.preferred.empty()) {
    AddShare(kNodeAffinityWeight, false,
             [&](const NodeInfo& node) { return wants.node_affinity.Score(node.facts.header()); });
  }
  best_.clear();
  std::int64_t most = -1;
  for (std::size_t i = 0; i < scores_.size(); ++i) {
    if (scores_[i] < most) continue;
    if (scores_[i] > most) best_.clear();
    most = scores_[i];
    best_.push_back(i);
  }
  return good_[best_.size() == 1 ? best_.front() : best_[prng_.Below(best_.size())]];
}

// Adds nothing when the count is 0 for every node.
template <typename Count>
void NodeChooser::AddShare(std::int64_t weight, bool malus, const Count& count) {
  part_.clear();
  for (const NodeInfo* node : good_) part_.push_back(count(*node));
  const std::int64_t most = *std::max_element(part_.begin(), part_.end());
  if (most == 0) return;
  for (std::size_t i = 0; i < part_.size(); ++i) {
    const std::int64_t share = kScoreMax * part_[i] / most;
    scores_[i] += weight * (malus ? kScoreMax - share : share);
  }
}

}  // namespace terrarium::kubelet_fake::scheduling
