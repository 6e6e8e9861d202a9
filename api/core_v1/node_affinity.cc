#include "api/core_v1/node_affinity.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

#include "api/json_access.h"

namespace terrarium::api {
namespace {

std::optional<LabelOperator> ReadOperator(std::string_view text) {
  if (text == "In") return LabelOperator::kIn;
  if (text == "NotIn") return LabelOperator::kNotIn;
  if (text == "Exists") return LabelOperator::kExists;
  if (text == "DoesNotExist") return LabelOperator::kDoesNotExist;
  if (text == "Gt") return LabelOperator::kGreaterThan;
  if (text == "Lt") return LabelOperator::kLessThan;
  return std::nullopt;
}

// nullopt for what admission should have refused; a term with such a requirement matches nothing.
std::optional<LabelRequirement> ReadRequirement(const Json& expression) {
  const auto op = ReadOperator(StringAt(expression, "operator"));
  if (!op) return std::nullopt;
  LabelRequirement out{.key = std::string(StringAt(expression, "key")), .op = *op, .values = {}, .number = 0};
  for (const Json& value : ListAt(expression, "values")) out.values.push_back(value.get<std::string>());
  std::sort(out.values.begin(), out.values.end());
  if (*op == LabelOperator::kGreaterThan || *op == LabelOperator::kLessThan) {
    if (out.values.size() != 1) return std::nullopt;
    const std::string& text = out.values.front();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  }
  return out;
}

bool ReadRequirements(const Json& expressions, std::vector<LabelRequirement>& out) {
  for (const Json& expression : expressions) {
    auto requirement = ReadRequirement(expression);
    if (!requirement) return false;
    out.push_back(std::move(*requirement));
  }
  return true;
}

NodeTerm ReadTerm(const Json& term) {
  NodeTerm out;
  if (!ReadRequirements(ListAt(term, "matchExpressions"), out.labels) ||
      !ReadRequirements(ListAt(term, "matchFields"), out.names)) {
    return {};
  }
  return out;
}

// The names that a term allows, or nullopt when it does not name its nodes.
std::optional<std::vector<std::string>> NamesOf(const NodeTerm& term) {
  std::optional<std::vector<std::string>> out;
  for (const LabelRequirement& requirement : term.names) {
    if (requirement.op != LabelOperator::kIn) continue;
    if (!out) {
      out = requirement.values;
      continue;
    }
    std::vector<std::string> both;
    std::set_intersection(out->begin(), out->end(), requirement.values.begin(), requirement.values.end(),
                          std::back_inserter(both));
    out = std::move(both);
  }
  return out;
}

std::optional<std::vector<std::string>> NamesOf(const std::vector<NodeTerm>& terms) {
  if (terms.empty()) return std::nullopt;
  std::vector<std::string> all;
  for (const NodeTerm& term : terms) {
    auto names = NamesOf(term);
    if (!names) return std::nullopt;
    all.insert(all.end(), names->begin(), names->end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

bool NodeTerm::Matches(const ObjectHeader& node) const {
  if (labels.empty() && names.empty()) return false;
  return std::all_of(labels.begin(), labels.end(),
                     [&](const LabelRequirement& r) { return r.Matches(FindLabel(node, r.key)); }) &&
         std::all_of(names.begin(), names.end(),
                     [&](const LabelRequirement& r) { return r.Matches(&node.name); });
}

bool NodeAffinity::Matches(const ObjectHeader& node) const {
  for (const auto& [key, value] : selector) {
    const std::string* label = FindLabel(node, key);
    if (label == nullptr || *label != value) return false;
  }
  return !required || std::any_of(required->begin(), required->end(),
                                  [&](const NodeTerm& term) { return term.Matches(node); });
}

std::int64_t NodeAffinity::Score(const ObjectHeader& node) const {
  std::int64_t score = 0;
  for (const Preferred& preference : preferred) {
    if (preference.term.Matches(node)) score += preference.weight;
  }
  return score;
}

std::vector<NodeTerm> NodeTermsOf(const Json& node_selector) {
  std::vector<NodeTerm> terms;
  for (const Json& term : ListAt(node_selector, "nodeSelectorTerms")) terms.push_back(ReadTerm(term));
  return terms;
}

NodeAffinity NodeAffinityOf(const Json& pod_spec) {
  NodeAffinity out;
  for (const auto& [key, value] : ObjectAt(pod_spec, "nodeSelector").items()) {
    out.selector.emplace_back(key, value.get<std::string>());
  }
  const Json& affinity = ObjectAt(pod_spec, "affinity", "nodeAffinity");
  if (const Json* required = Find(affinity, "requiredDuringSchedulingIgnoredDuringExecution")) {
    out.required = NodeTermsOf(*required);
    out.node_names = NamesOf(*out.required);
  }
  for (const Json& preference : ListAt(affinity, "preferredDuringSchedulingIgnoredDuringExecution")) {
    out.preferred.push_back({IntAt(preference, 0, "weight"), ReadTerm(ObjectAt(preference, "preference"))});
  }
  return out;
}

}  // namespace terrarium::api
