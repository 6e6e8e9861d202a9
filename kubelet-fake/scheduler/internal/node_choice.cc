#include "kubelet-fake/scheduler/internal/node_choice.h"

#include <algorithm>

#include "kubelet-fake/scheduler/internal/filters.h"

namespace terrarium::kubelet_fake::scheduling {
// mirrors numFeasibleNodesToFind() of pkg/scheduler/schedule_one.go, 1.36.
std::size_t GoodNodesWanted(std::size_t nodes) {
  constexpr std::size_t kAtLeast = 100;
  if (nodes < kAtLeast) return nodes;
  const std::size_t percentage = nodes / 125 >= 45 ? 5 : 50 - nodes / 125;
  return std::max(kAtLeast, nodes * percentage / 100);
}

NodeInfo* NodeChooser::Choose(Cluster& cluster, const PodRecord& pod, Diagnosis& why) {
  const std::vector<NodeInfo*>& all = cluster.nodes();
  PodClass& pod_class = *pod.pod_class;
  cluster.Refresh(pod_class);
  good_.clear();
  not_hopeless_.clear();
  any_taint_ = false;
  const auto& names = pod_class.wants.node_affinity.node_names;
  if (names && names->empty()) {
    why.RejectEverywhere(FilterName::kNodeAffinity, "pod affinity terms conflict");
    return nullptr;
  }
  if (!pod_class.wants.claims.empty() && !pod_class.volumes.refusal.empty()) {
    why.RejectEverywhere(FilterName::kVolumeBinding, pod_class.volumes.refusal);
    return nullptr;
  }
  if (pod.nominated != nullptr && pod.nominated->facts.object != nullptr) {
    Diagnosis unused;
    if (PassesWithNominated(cluster, pod, *pod.nominated, unused)) return pod.nominated;
  }
  if (names) {
    named_.clear();
    for (const std::string& name : *names) {
      if (NodeInfo* node = cluster.FindNode(name)) named_.push_back(node);
    }
    why.OnlyNamedNodesSeen(static_cast<int>(all.size() - named_.size()));
    FindGood(cluster, named_, 0, named_.size(), pod, why);
  } else {
    start_ = FindGood(cluster, all, start_, GoodNodesWanted(all.size()), pod, why);
  }
  if (good_.empty()) return nullptr;
  return good_.size() == 1 ? good_.front() : BestOfGood(pod_class);
}

std::size_t NodeChooser::FindGood(Cluster& cluster, const std::vector<NodeInfo*>& nodes, std::size_t start,
                                  std::size_t wanted, const PodRecord& pod, Diagnosis& why) {
  const bool any_nominated = cluster.nominations() > 0;
  std::size_t at = start < nodes.size() ? start : 0;
  for (std::size_t seen = 0; seen < nodes.size() && good_.size() < wanted; ++seen) {
    NodeInfo* node = nodes[at];
    const int not_hopeless = why.not_hopeless();
    if (any_nominated ? PassesWithNominated(cluster, pod, *node, why)
                      : PassesFilters(*pod.pod_class, *node, why)) {
      good_.push_back(node);
      any_taint_ |= !node->facts.taints.empty();
    } else if (why.not_hopeless() > not_hopeless) {
      not_hopeless_.push_back(node);
    }
    if (++at == nodes.size()) at = 0;
  }
  return at;
}

NodeInfo* NodeChooser::BestOfGood(const PodClass& pod_class) {
  const std::vector<std::int64_t>& scores = scores_.Of(pod_class, good_, any_taint_);
  best_.clear();
  std::int64_t most = -1;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] < most) continue;
    if (scores[i] > most) best_.clear();
    most = scores[i];
    best_.push_back(i);
  }
  return good_[best_.size() == 1 ? best_.front() : best_[prng_.Below(best_.size())]];
}

}  // namespace terrarium::kubelet_fake::scheduling
