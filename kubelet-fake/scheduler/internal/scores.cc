#include "kubelet-fake/scheduler/internal/scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace terrarium::kubelet_fake::scheduling {
namespace {

constexpr std::int64_t kScoreMax = 100;
// Weights of kube-scheduler's default profile; the scores of resources have weight 1.
constexpr std::int64_t kTaintWeight = 3;
constexpr std::int64_t kNodeAffinityWeight = 2;
constexpr std::int64_t kSpreadWeight = 2;
constexpr std::int64_t kPodAffinityWeight = 2;

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

std::int64_t LeastAllocatedScore(const PodRequests& pod, const NodeInfo& node) {
  const Resources& allocatable = node.facts.allocatable.resources;
  const bool has_cpu = allocatable.milli_cpu > 0;
  const bool has_memory = allocatable.memory > 0;
  std::int64_t sum = 0;
  if (has_cpu) sum += FreeShare(node.scoring_milli_cpu + pod.scoring_milli_cpu, allocatable.milli_cpu);
  if (has_memory) sum += FreeShare(node.scoring_memory + pod.scoring_memory, allocatable.memory);
  return has_cpu && has_memory ? sum / 2 : sum;
}

// mirrors balancedResourceScorer() of plugins/noderesources/balanced_allocation.go, 1.36.
std::int64_t BalancedAllocationScore(const Resources& pod, const NodeInfo& node) {
  const Resources& used = node.requested;
  const std::int64_t change =
      EvennessOf(used.milli_cpu + pod.milli_cpu, used.memory + pod.memory, node.facts.allocatable.resources) -
      node.evenness;
  return kScoreMax / 2 + (kScoreMax / 2 + change) / 2;
}

const std::vector<std::int64_t>& NodeScores::Of(const PodClass& pod_class,
                                                const std::vector<NodeInfo*>& nodes, bool any_taint) {
  const Requirements& wants = pod_class.wants;
  const Resources& requests = wants.resources.requests;
  scores_.clear();
  for (const NodeInfo* node : nodes) scores_.push_back(LeastAllocatedScore(wants.resources, *node));
  if (requests.milli_cpu != 0 || requests.memory != 0) {
    for (std::size_t i = 0; i < nodes.size(); ++i) scores_[i] += BalancedAllocationScore(requests, *nodes[i]);
  }
  if (any_taint) {
    AddShare(nodes, kTaintWeight, true,
             [&](const NodeInfo& node) { return UnwelcomeTaints(wants, node.facts); });
  }
  if (!wants.node_affinity.preferred.empty()) {
    AddShare(nodes, kNodeAffinityWeight, false,
             [&](const NodeInfo& node) { return wants.node_affinity.Score(node.facts.header()); });
  }
  if (pod_class.soft_spread != nullptr) AddSpread(*pod_class.soft_spread, nodes);
  AddPodAffinity(pod_class, nodes);
  return scores_;
}

template <typename Count>
void NodeScores::AddShare(const std::vector<NodeInfo*>& nodes, std::int64_t weight, bool malus,
                          const Count& count) {
  part_.clear();
  for (const NodeInfo* node : nodes) part_.push_back(count(*node));
  const std::int64_t most = *std::max_element(part_.begin(), part_.end());
  if (most == 0) return;
  for (std::size_t i = 0; i < part_.size(); ++i) {
    const std::int64_t share = kScoreMax * part_[i] / most;
    scores_[i] += weight * (malus ? kScoreMax - share : share);
  }
}

// mirrors plugins/podtopologyspread/scoring.go, 1.36. The more domains a topology has, the more a pod counts
// there.
void NodeScores::AddSpread(const SpreadGroup& group, const std::vector<NodeInfo*>& nodes) {
  constexpr std::int64_t kLeftOut = -1;
  const auto left_out = [&](const NodeInfo& node) { return group.require_all && !group.HasAllKeys(node); };
  spread_weights_.clear();
  for (const SpreadConstraint& constraint : group.constraints) {
    std::int64_t domains = 0;
    const bool by_host = constraint.topology_key == kHostKey;
    domain_seen_.assign(1, false);
    for (const NodeInfo* node : nodes) {
      if (left_out(*node)) continue;
      const std::size_t domain = node->domains[constraint.key];
      if (domain >= domain_seen_.size()) domain_seen_.resize(domain + 1);
      domains += by_host || !domain_seen_[domain] ? 1 : 0;
      domain_seen_[domain] = true;
    }
    spread_weights_.push_back(std::log(static_cast<double>(domains + 2)));
  }
  part_.clear();
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = 0;
  for (const NodeInfo* node : nodes) {
    if (left_out(*node)) {
      part_.push_back(kLeftOut);
      continue;
    }
    double sum = 0;
    for (std::size_t i = 0; i < group.constraints.size(); ++i) {
      const SpreadConstraint& constraint = group.constraints[i];
      const std::size_t domain = node->domains[constraint.key];
      if (domain == 0) continue;
      sum += static_cast<double>(group.pods[i].At(domain)) * spread_weights_[i] +
             static_cast<double>(constraint.max_skew - 1);
    }
    part_.push_back(static_cast<std::int64_t>(std::round(sum)));
    least = std::min(least, part_.back());
    most = std::max(most, part_.back());
  }
  for (std::size_t i = 0; i < part_.size(); ++i) {
    if (part_[i] == kLeftOut) continue;
    scores_[i] += kSpreadWeight * (most == 0 ? kScoreMax : kScoreMax * (most + least - part_[i]) / most);
  }
}

// mirrors plugins/interpodaffinity/scoring.go, 1.36.
void NodeScores::AddPodAffinity(const PodClass& pod_class, const std::vector<NodeInfo*>& nodes) {
  const bool any = std::any_of(pod_class.weighed.begin(), pod_class.weighed.end(),
                               [](const PodClass::Weighed& item) { return item.preferred; }) ||
                   std::any_of(pod_class.matched.begin(), pod_class.matched.end(),
                               [](const auto& group) { return group->weighing > 0; });
  if (!any) return;
  part_.assign(nodes.size(), 0);
  const auto add = [&](const DomainCounts& counts, std::size_t key, std::int64_t weight) {
    for (std::size_t i = 0; i < nodes.size(); ++i) part_[i] += weight * counts.At(nodes[i]->domains[key]);
  };
  for (const PodClass::Weighed& item : pod_class.weighed) {
    if (item.preferred) add(item.group->matching.front(), item.group->keys.front(), item.weight);
  }
  for (const auto& group : pod_class.matched) {
    if (group->weighing > 0) add(group->weights, group->keys.front(), 1);
  }
  const auto [least, most] = std::minmax_element(part_.begin(), part_.end());
  if (*least == *most) return;
  const double range = static_cast<double>(*most - *least);
  const std::int64_t base = *least;
  for (std::size_t i = 0; i < part_.size(); ++i) {
    scores_[i] += kPodAffinityWeight *
                  static_cast<std::int64_t>(kScoreMax * (static_cast<double>(part_[i] - base) / range));
  }
}

}  // namespace terrarium::kubelet_fake::scheduling
