#include "kubelet-fake/scheduler/internal/retry_hints.h"

#include <algorithm>

#include "kubelet-fake/scheduler/internal/filters.h"

namespace terrarium::kubelet_fake::scheduling {
namespace {

bool AnyRequestedIncreased(const Requirements& wants, const Allocatable& before, const Allocatable& after) {
  const Resources& request = wants.resources.requests;
  const Resources& was = before.resources;
  const Resources& is = after.resources;
  return after.pods > before.pods || (request.milli_cpu > 0 && is.milli_cpu > was.milli_cpu) ||
         (request.memory > 0 && is.memory > was.memory) ||
         (request.ephemeral_storage > 0 && is.ephemeral_storage > was.ephemeral_storage) ||
         std::any_of(request.scalars.begin(), request.scalars.end(),
                     [&](const auto& item) { return is.Scalar(item.first) > was.Scalar(item.first); });
}

bool Matched(const PodClass& pod_class, const TermGroup& group) {
  return std::any_of(pod_class.matched.begin(), pod_class.matched.end(),
                     [&](const auto& matched) { return matched.get() == &group; });
}

bool AnyMatched(const PodClass& pod_class, const std::vector<std::shared_ptr<TermGroup>>& groups) {
  return std::any_of(groups.begin(), groups.end(),
                     [&](const auto& group) { return Matched(pod_class, *group); });
}

}  // namespace

bool NodeMayHelp(const PodClass& pod_class, const NodeFacts& before, const NodeFacts& after) {
  const Requirements& wants = pod_class.wants;
  const FilterSet& rejected_by = pod_class.failure->rejected_by;
  const bool is_new = before.object == nullptr;
  if (rejected_by.empty()) return is_new;  // there were no nodes
  if (rejected_by.Has(FilterName::kNodeUnschedulable) && !after.unschedulable &&
      (is_new || before.unschedulable)) {
    return true;
  }
  if (rejected_by.Has(FilterName::kTaintToleration) && TaintsTolerated(wants, after) &&
      (is_new || !TaintsTolerated(wants, before))) {
    return true;
  }
  if (rejected_by.Has(FilterName::kNodeAffinity) && wants.node_affinity.Matches(after.header()) &&
      (is_new || !wants.node_affinity.Matches(before.header()))) {
    return true;
  }
  if (rejected_by.Has(FilterName::kNodePorts) && is_new) return true;
  if (rejected_by.Has(FilterName::kNodeResourcesFit) && FitsWhenEmpty(wants, after) &&
      (is_new || AnyRequestedIncreased(wants, before.allocatable, after.allocatable))) {
    return true;
  }
  return rejected_by.Has(FilterName::kInterPodAffinity) &&
         (is_new || before.header().labels != after.header().labels);
}

// DIVERGES: kube-scheduler tries every pod that lacked resources again after any pod has gone; here the node
// must now be good enough. The outcome is the same with fewer attempts, and so fewer FailedScheduling events.
bool FreedNodeMayHelp(const PodClass& pod_class, const PodClass& gone, const NodeInfo* node) {
  const FilterSet& rejected_by = pod_class.failure->rejected_by;
  if (rejected_by.Has(FilterName::kInterPodAffinity) &&
      (AnyMatched(gone, pod_class.anti_affinity) || AnyMatched(pod_class, gone.anti_affinity))) {
    return true;
  }
  if (!rejected_by.Has(FilterName::kNodeResourcesFit) && !rejected_by.Has(FilterName::kNodePorts))
    return false;
  Diagnosis why;
  return node != nullptr && PassesFilters(pod_class, *node, why);
}

bool PlacedPodMayHelp(const PodClass& pod_class, const PodClass& come) {
  return pod_class.failure->rejected_by.Has(FilterName::kInterPodAffinity) && pod_class.affinity != nullptr &&
         Matched(come, *pod_class.affinity);
}

}  // namespace terrarium::kubelet_fake::scheduling
