#include "kubelet-fake/scheduler/internal/filters.h"

#include <algorithm>

namespace terrarium::kubelet_fake::scheduling {
namespace {

bool Refuse(Diagnosis& why, FilterName filter, Reason reason, bool hopeless) {
  why.Count(reason);
  why.NodeRefused(filter, hopeless);
  return false;
}

// mirrors fitsRequest() of plugins/noderesources/fit.go, 1.36: every insufficient resource is a reason.
bool FitsResources(const Requirements& wants, const NodeInfo& node, Diagnosis& why) {
  const Resources& request = wants.resources.requests;
  const Resources& allocatable = node.facts.allocatable.resources;
  const Resources& used = node.requested;
  bool fits = true;
  bool hopeless = false;
  const auto check = [&](std::int64_t asked, std::int64_t total, std::int64_t taken, Reason reason) {
    if (asked <= 0 || asked <= total - taken) return;
    fits = false;
    hopeless |= asked > total;
    why.Count(reason);
  };
  if (node.pods + 1 > node.facts.allocatable.pods) {
    fits = false;
    why.Count(Reason::kTooManyPods);
  }
  check(request.milli_cpu, allocatable.milli_cpu, used.milli_cpu, Reason::kCpu);
  check(request.memory, allocatable.memory, used.memory, Reason::kMemory);
  check(request.ephemeral_storage, allocatable.ephemeral_storage, used.ephemeral_storage,
        Reason::kEphemeralStorage);
  for (const auto& [name, asked] : request.scalars) {
    const std::int64_t total = allocatable.Scalar(name);
    if (asked <= total - used.Scalar(name)) continue;
    fits = false;
    hopeless |= asked > total;
    why.CountInsufficient(name);
  }
  if (!fits) why.NodeRefused(FilterName::kNodeResourcesFit, hopeless);
  return fits;
}

bool AffinitySatisfied(const PodClass& pod_class, const NodeInfo& node) {
  const TermGroup& group = *pod_class.affinity;
  bool near = true;
  for (std::size_t i = 0; i < group.keys.size(); ++i) {
    const std::size_t domain = node.domains[group.keys[i]];
    if (domain == 0) return false;
    near &= group.matching[i].At(domain) > 0;
  }
  if (near) return true;
  // A pod that matches its own affinity terms may be the first: while no placed pod matches them, every node
  // with the topology labels passes.
  return pod_class.matches_own_affinity && std::all_of(group.matching.begin(), group.matching.end(),
                                                       [](const DomainCounts& c) { return c.total() == 0; });
}

// mirrors the filter of plugins/podtopologyspread/filtering.go, 1.36.
bool FitsSpread(const PodClass& pod_class, const NodeInfo& node, Diagnosis& why) {
  const SpreadGroup& group = *pod_class.hard_spread;
  for (std::size_t i = 0; i < group.constraints.size(); ++i) {
    const SpreadConstraint& constraint = group.constraints[i];
    const std::size_t domain = node.domains[constraint.key];
    if (domain == 0) return Refuse(why, FilterName::kPodTopologySpread, Reason::kSpreadMissingLabel, true);
    const std::int64_t skew =
        group.pods[i].At(domain) + (pod_class.matches_own_spread[i] ? 1 : 0) - group.Least(i);
    if (skew > constraint.max_skew)
      return Refuse(why, FilterName::kPodTopologySpread, Reason::kSpread, false);
  }
  return true;
}

// mirrors the filter of plugins/interpodaffinity/filtering.go, 1.36.
bool FitsAmongPods(const PodClass& pod_class, const NodeInfo& node, Diagnosis& why) {
  if (pod_class.affinity != nullptr && !AffinitySatisfied(pod_class, node)) {
    return Refuse(why, FilterName::kInterPodAffinity, Reason::kPodAffinity, true);
  }
  for (const auto& group : pod_class.anti_affinity) {
    if (group->matching.front().At(node.domains[group->keys.front()]) > 0) {
      return Refuse(why, FilterName::kInterPodAffinity, Reason::kPodAntiAffinity, false);
    }
  }
  for (const auto& group : pod_class.matched) {
    if (group->carriers.total() > 0 && group->carriers.At(node.domains[group->keys.front()]) > 0) {
      return Refuse(why, FilterName::kInterPodAffinity, Reason::kExistingAntiAffinity, false);
    }
  }
  return true;
}

}  // namespace

bool TaintsTolerated(const Requirements& wants, const NodeFacts& node) {
  return std::all_of(node.taints.begin(), node.taints.end(), [&](const Taint& taint) {
    return !taint.KeepsPodsAway() || Tolerated(taint, wants.tolerations);
  });
}

bool FitsWhenEmpty(const Requirements& wants, const NodeFacts& node) {
  NodeInfo empty;
  empty.facts = node;
  Diagnosis why;
  return FitsResources(wants, empty, why);
}

bool PassesFilters(const PodClass& pod_class, const NodeInfo& node, Diagnosis& why) {
  const Requirements& wants = pod_class.wants;
  if (node.facts.unschedulable && !wants.tolerates_unschedulable) {
    return Refuse(why, FilterName::kNodeUnschedulable, Reason::kUnschedulable, true);
  }
  if (!TaintsTolerated(wants, node.facts)) {
    return Refuse(why, FilterName::kTaintToleration, Reason::kUntoleratedTaint, true);
  }
  if (!wants.node_affinity.IsEmpty() && !wants.node_affinity.Matches(node.facts.header())) {
    return Refuse(why, FilterName::kNodeAffinity, Reason::kNodeAffinity, true);
  }
  if (!wants.host_ports.empty() && AnyConflict(wants.host_ports, node.ports)) {
    return Refuse(why, FilterName::kNodePorts, Reason::kHostPorts, false);
  }
  return FitsResources(wants, node, why) &&
         (wants.claims.empty() || FitsVolumes(pod_class.volumes, node, why)) &&
         (pod_class.hard_spread == nullptr || FitsSpread(pod_class, node, why)) &&
         FitsAmongPods(pod_class, node, why);
}

// mirrors RunFilterPluginsWithNominatedPods() of pkg/scheduler/framework/runtime, 1.36.
bool PassesWithNominated(Cluster& cluster, const PodRecord& pod, NodeInfo& node, Diagnosis& why) {
  std::vector<PodClassPtr> added;
  for (const PodRecord* other : node.nominated) {
    if (other == &pod || other->priority() < pod.priority()) continue;
    cluster.CountIn(other->pod_class, node, false);
    added.push_back(other->pod_class);
  }
  if (!added.empty()) {
    const bool passes = PassesFilters(*pod.pod_class, node, why);
    for (const PodClassPtr& other : added) cluster.CountOut(other, node, false);
    if (!passes) return false;
  }
  return PassesFilters(*pod.pod_class, node, why);
}

}  // namespace terrarium::kubelet_fake::scheduling
