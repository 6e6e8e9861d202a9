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

bool UsesClaim(const PodClass& pod_class, const api::ObjectName& claim) {
  return pod_class.wants.pod.ns == claim.ns &&
         std::any_of(pod_class.wants.claims.begin(), pod_class.wants.claims.end(),
                     [&](const api::PodClaim& item) { return item.claim == claim.name; });
}

// One of the class may have kept a claim from others.
bool SharesClaim(const PodClass& pod_class, const PodClass& other) {
  return pod_class.failure->rejected_by.Has(FilterName::kVolumeRestrictions) &&
         std::any_of(other.wants.claims.begin(), other.wants.claims.end(), [&](const api::PodClaim& item) {
           return UsesClaim(pod_class, {other.wants.pod.ns, item.claim});
         });
}

bool CountsForSpread(const PodClass& pod_class, const PodClass& other) {
  return pod_class.failure->rejected_by.Has(FilterName::kPodTopologySpread) &&
         std::any_of(
             other.spread_matched.begin(), other.spread_matched.end(),
             [&](const PodClass::SpreadMatch& match) { return match.group == pod_class.hard_spread; });
}

bool HasSpreadKeys(const Requirements& wants, const NodeFacts& node) {
  return node.object != nullptr &&
         std::all_of(wants.hard_spread.begin(), wants.hard_spread.end(),
                     [&](const SpreadConstraint& constraint) {
                       return api::FindLabel(node.header(), constraint.topology_key) != nullptr;
                     });
}

bool SpreadKeysDiffer(const Requirements& wants, const NodeFacts& a, const NodeFacts& b) {
  return std::any_of(wants.hard_spread.begin(), wants.hard_spread.end(),
                     [&](const SpreadConstraint& constraint) {
                       return *api::FindLabel(a.header(), constraint.topology_key) !=
                              *api::FindLabel(b.header(), constraint.topology_key);
                     });
}

// mirrors isSchedulableAfterNodeChange() of plugins/podtopologyspread/plugin.go, 1.36.
bool SpreadMayChange(const Requirements& wants, const NodeFacts& before, const NodeFacts& after) {
  const bool counted = HasSpreadKeys(wants, before);
  const bool counts = HasSpreadKeys(wants, after);
  if (counted != counts) return true;
  return counts && (SpreadKeysDiffer(wants, before, after) || before.taints != after.taints);
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
  if ((rejected_by.Has(FilterName::kVolumeBinding) || rejected_by.Has(FilterName::kVolumeZone)) &&
      (is_new || before.header().labels != after.header().labels)) {
    return true;
  }
  if (rejected_by.Has(FilterName::kPodTopologySpread) && SpreadMayChange(wants, before, after)) return true;
  return rejected_by.Has(FilterName::kInterPodAffinity) &&
         (is_new || before.header().labels != after.header().labels);
}

bool RemovedNodeMayHelp(const PodClass& pod_class, const NodeFacts& before) {
  return pod_class.failure->rejected_by.Has(FilterName::kPodTopologySpread) &&
         HasSpreadKeys(pod_class.wants, before);
}

bool ClaimMayHelp(const PodClass& pod_class, const api::ObjectName& claim) {
  return VolumeMayHelp(pod_class) && UsesClaim(pod_class, claim);
}

bool VolumeMayHelp(const PodClass& pod_class) {
  const FilterSet& rejected_by = pod_class.failure->rejected_by;
  return rejected_by.Has(FilterName::kVolumeBinding) || rejected_by.Has(FilterName::kVolumeZone);
}

// DIVERGES: kube-scheduler tries every pod that lacked resources again after any pod has gone; here the node
// must now be good enough. The outcome is the same with fewer attempts, and so fewer FailedScheduling events.
bool FreedNodeMayHelp(const PodClass& pod_class, const PodClass& gone, const NodeInfo* node) {
  const FilterSet& rejected_by = pod_class.failure->rejected_by;
  if (rejected_by.Has(FilterName::kInterPodAffinity) &&
      (AnyMatched(gone, pod_class.anti_affinity) || AnyMatched(pod_class, gone.anti_affinity))) {
    return true;
  }
  if (CountsForSpread(pod_class, gone) || SharesClaim(pod_class, gone)) return true;
  if (!rejected_by.Has(FilterName::kNodeResourcesFit) && !rejected_by.Has(FilterName::kNodePorts))
    return false;
  Diagnosis why;
  return node != nullptr && PassesFilters(pod_class, *node, why);
}

bool PlacedPodMayHelp(const PodClass& pod_class, const PodClass& come) {
  if (CountsForSpread(pod_class, come)) return true;
  return pod_class.failure->rejected_by.Has(FilterName::kInterPodAffinity) && pod_class.affinity != nullptr &&
         Matched(come, *pod_class.affinity);
}

}  // namespace terrarium::kubelet_fake::scheduling
