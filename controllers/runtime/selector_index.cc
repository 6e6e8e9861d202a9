#include "controllers/runtime/selector_index.h"

#include <algorithm>

namespace terrarium::controllers {

using api::ObjectName;

std::optional<SelectorIndex::Label> SelectorIndex::RequiredLabel(const api::LabelSelector& selector) {
  for (const api::LabelRequirement& requirement : selector.requirements()) {
    bool equality = requirement.op == api::LabelOperator::kEquals ||
                    requirement.op == api::LabelOperator::kDoubleEquals ||
                    requirement.op == api::LabelOperator::kIn;
    if (equality && requirement.values.size() == 1) return Label(requirement.key, requirement.values[0]);
  }
  return std::nullopt;
}

void SelectorIndex::Set(const ObjectName& name, api::LabelSelector selector) {
  Remove(name);
  Namespace& ns = namespaces_[name.ns];
  std::optional<Label> label = RequiredLabel(selector);
  (label ? ns.by_label[*label] : ns.by_nothing).insert(name.name);
  ns.selectors.emplace(name.name, std::move(selector));
}

void SelectorIndex::Remove(const ObjectName& name) {
  auto ns = namespaces_.find(name.ns);
  if (ns == namespaces_.end()) return;
  auto selector = ns->second.selectors.find(name.name);
  if (selector == ns->second.selectors.end()) return;
  if (std::optional<Label> label = RequiredLabel(selector->second)) {
    auto names = ns->second.by_label.find(*label);
    names->second.erase(name.name);
    if (names->second.empty()) ns->second.by_label.erase(names);
  } else {
    ns->second.by_nothing.erase(name.name);
  }
  ns->second.selectors.erase(selector);
  if (ns->second.selectors.empty()) namespaces_.erase(ns);
}

std::vector<ObjectName> SelectorIndex::Matching(const api::ObjectHeader& header) const {
  std::vector<ObjectName> matching;
  auto place = namespaces_.find(header.ns);
  if (place == namespaces_.end()) return matching;
  const Namespace& ns = place->second;
  auto consider = [&](const std::set<std::string>& names) {
    for (const std::string& name : names)
      if (ns.selectors.at(name).Matches(header)) matching.push_back({header.ns, name});
  };
  consider(ns.by_nothing);
  for (const Label& label : header.labels)
    if (auto names = ns.by_label.find(label); names != ns.by_label.end()) consider(names->second);
  std::sort(matching.begin(), matching.end());
  return matching;
}

}  // namespace terrarium::controllers
