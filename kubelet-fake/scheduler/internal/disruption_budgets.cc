#include "kubelet-fake/scheduler/internal/disruption_budgets.h"

#include <utility>

#include "api/json_access.h"

namespace terrarium::kubelet_fake::scheduling {

void DisruptionBudgets::Set(const api::ObjectPtr& object) {
  Remove(object->name());
  const auto document = object->Document();
  auto selector = api::LabelSelector::FromDocument(api::Find(*document, "spec", "selector"));
  // Unlike in policy/v1 elsewhere, an empty selector selects no pod here, as in kube-scheduler.
  if (!selector || selector->selects_nothing() || selector->selects_everything()) return;
  Budget budget{.selector = std::move(*selector),
                .allowed = api::IntAt(*document, 0, "status", "disruptionsAllowed"),
                .disrupted = {}};
  for (const auto& [pod, time] : api::ObjectAt(*document, "status", "disruptedPods").items()) {
    budget.disrupted.insert(pod);
  }
  namespaces_[object->name().ns].insert_or_assign(object->name().name, std::move(budget));
}

void DisruptionBudgets::Remove(const api::ObjectName& name) {
  const auto ns = namespaces_.find(name.ns);
  if (ns == namespaces_.end()) return;
  ns->second.erase(name.name);
  if (ns->second.empty()) namespaces_.erase(ns);
}

// mirrors filterPodsWithPDBViolation() of plugins/defaultpreemption, 1.36.
std::vector<bool> DisruptionBudgets::Violating(const std::vector<PodRecord*>& pods) const {
  std::vector<bool> out(pods.size());
  if (namespaces_.empty()) return out;
  std::map<const Budget*, std::int64_t> left;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const api::ObjectHeader& pod = pods[i]->pod_class->wants.pod;
    const auto ns = namespaces_.find(pod.ns);
    if (ns == namespaces_.end() || pod.labels.empty()) continue;
    for (const auto& [name, budget] : ns->second) {
      if (!budget.selector.Matches(pod) || budget.disrupted.contains(pods[i]->name->name)) continue;
      if (--left.try_emplace(&budget, budget.allowed).first->second < 0) out[i] = true;
    }
  }
  return out;
}

}  // namespace terrarium::kubelet_fake::scheduling
