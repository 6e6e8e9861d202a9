#include "controllers/disruption/internal/budget_index.h"

#include <algorithm>

#include "api/core_v1/pod.h"

namespace terrarium::controllers::disruption {

PodFacts FactsOf(const api::Object& pod) {
  return {.name = pod.name().name,
          .ready = api::ReadinessOf(*pod.Document()).ready,
          .deleting = pod.header().deleting,
          .controller = pod.header().controller};
}

void SelectedPods::Put(PodFacts pod) {
  Remove(pod.name);
  if (pod.Healthy()) ++healthy_;
  if (pod.controller) {
    Controlled& controlled = controllers_[pod.controller->uid];
    controlled.controller = *pod.controller;
    controlled.pods.insert(pod.name);
  } else {
    unmanaged_.insert(pod.name);
  }
  std::string name = pod.name;
  pods_.emplace(std::move(name), std::move(pod));
}

void SelectedPods::Remove(const std::string& name) {
  auto it = pods_.find(name);
  if (it == pods_.end()) return;
  const PodFacts& pod = it->second;
  if (pod.Healthy()) --healthy_;
  if (pod.controller) {
    auto controlled = controllers_.find(pod.controller->uid);
    controlled->second.pods.erase(name);
    if (controlled->second.pods.empty()) controllers_.erase(controlled);
  } else {
    unmanaged_.erase(name);
  }
  pods_.erase(it);
}

const PodFacts* SelectedPods::Find(const std::string& name) const {
  auto it = pods_.find(name);
  return it == pods_.end() ? nullptr : &it->second;
}

std::optional<BudgetIndex::Label> BudgetIndex::RequiredLabel(const api::LabelSelector& selector) {
  for (const api::LabelRequirement& requirement : selector.requirements()) {
    bool one_value = requirement.op == api::LabelOperator::kEquals ||
                     requirement.op == api::LabelOperator::kDoubleEquals ||
                     requirement.op == api::LabelOperator::kIn;
    if (one_value && requirement.values.size() == 1) return Label(requirement.key, requirement.values[0]);
  }
  return std::nullopt;
}

void BudgetIndex::SetBudget(const ObjectName& name, api::LabelSelector selector) {
  RemoveBudget(name);
  Namespace& ns = namespaces_[name.ns];
  std::optional<Label> label = RequiredLabel(selector);
  (label ? ns.by_label[*label] : ns.by_nothing).insert(name.name);
  ns.budgets.emplace(name.name, Budget{std::move(selector), {}});
}

void BudgetIndex::RemoveBudget(const ObjectName& name) {
  auto ns = namespaces_.find(name.ns);
  if (ns == namespaces_.end()) return;
  auto budget = ns->second.budgets.find(name.name);
  if (budget == ns->second.budgets.end()) return;
  if (std::optional<Label> label = RequiredLabel(budget->second.selector)) {
    auto names = ns->second.by_label.find(*label);
    names->second.erase(name.name);
    if (names->second.empty()) ns->second.by_label.erase(names);
  } else {
    ns->second.by_nothing.erase(name.name);
  }
  ns->second.budgets.erase(budget);
  if (ns->second.budgets.empty()) namespaces_.erase(ns);
}

std::vector<ObjectName> BudgetIndex::Matching(const api::ObjectHeader& pod) const {
  std::vector<ObjectName> matching;
  auto place = namespaces_.find(pod.ns);
  if (place == namespaces_.end()) return matching;
  const Namespace& ns = place->second;
  auto consider = [&](const std::set<std::string>& names) {
    for (const std::string& name : names)
      if (ns.budgets.at(name).selector.Matches(pod)) matching.push_back({pod.ns, name});
  };
  consider(ns.by_nothing);
  for (const Label& label : pod.labels)
    if (auto names = ns.by_label.find(label); names != ns.by_label.end()) consider(names->second);
  std::sort(matching.begin(), matching.end());
  return matching;
}

SelectedPods* BudgetIndex::PodsOf(const ObjectName& budget) {
  auto ns = namespaces_.find(budget.ns);
  if (ns == namespaces_.end()) return nullptr;
  auto it = ns->second.budgets.find(budget.name);
  return it == ns->second.budgets.end() ? nullptr : &it->second.pods;
}

}  // namespace terrarium::controllers::disruption
