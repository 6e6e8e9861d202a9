#include "kubelet-fake/scheduler/internal/spread.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "api/json_access.h"

namespace terrarium::kubelet_fake::scheduling {
namespace {

using api::Json;
using api::StringAt;

api::LabelSelector WithLabels(api::LabelSelector selector, const std::string& labels) {
  if (labels.empty() || selector.selects_nothing()) return selector;
  std::string text = selector.String();
  if (!text.empty()) text += ',';
  auto merged = api::LabelSelector::Parse(text + labels);
  return merged ? std::move(*merged) : api::LabelSelector::Nothing();
}

SpreadConstraint Read(const api::ObjectHeader& header, const Json& constraint) {
  SpreadConstraint out{.topology_key = std::string(StringAt(constraint, "topologyKey")),
                       .selector = {},
                       .max_skew = api::IntAt(constraint, 1, "maxSkew"),
                       .min_domains = api::IntAt(constraint, 1, "minDomains"),
                       .honor_affinity = StringAt(constraint, "nodeAffinityPolicy") != "Ignore",
                       .honor_taints = StringAt(constraint, "nodeTaintsPolicy") == "Honor"};
  auto selector = api::LabelSelector::FromDocument(api::Find(constraint, "labelSelector"));
  std::string labels;
  for (const Json& key : api::ListAt(constraint, "matchLabelKeys")) {
    const std::string* value = api::FindLabel(header, key.get_ref<const std::string&>());
    if (value == nullptr) continue;
    labels.append(labels.empty() ? "" : ",")
        .append(key.get_ref<const std::string&>())
        .append("=")
        .append(*value);
  }
  out.selector = selector ? WithLabels(std::move(*selector), labels) : api::LabelSelector::Nothing();
  return out;
}

}  // namespace

std::string SpreadConstraint::Text() const {
  std::string out = topology_key;
  for (const std::string& part :
       {selector.selects_nothing() ? std::string("!") : selector.String(), std::to_string(max_skew),
        std::to_string(min_domains), std::string(honor_affinity ? "affinity" : ""),
        std::string(honor_taints ? "taints" : "")}) {
    out.append(1, '\0').append(part);
  }
  return out;
}

std::vector<SpreadConstraint> SpreadConstraintsOf(const api::ObjectHeader& header, const Json& pod_spec,
                                                  std::string_view when_unsatisfiable) {
  std::vector<SpreadConstraint> out;
  for (const Json& constraint : api::ListAt(pod_spec, "topologySpreadConstraints")) {
    if (StringAt(constraint, "whenUnsatisfiable") == when_unsatisfiable)
      out.push_back(Read(header, constraint));
  }
  return out;
}

std::vector<SpreadConstraint> DefaultSpreadConstraints(const api::LabelSelector& selector) {
  return {{.topology_key = std::string(kHostKey), .selector = selector, .max_skew = 3},
          {.topology_key = std::string(kZoneKey), .selector = selector, .max_skew = 5}};
}

bool SpreadGroup::HasAllKeys(const NodeInfo& node) const {
  return std::all_of(constraints.begin(), constraints.end(),
                     [&](const SpreadConstraint& constraint) { return node.domains[constraint.key] != 0; });
}

bool SpreadGroup::Includes(const SpreadConstraint& constraint, const NodeInfo& node) const {
  if (require_all && !HasAllKeys(node)) return false;
  if (constraint.honor_affinity && !affinity.IsEmpty() && !affinity.Matches(node.facts.header()))
    return false;
  return !constraint.honor_taints ||
         std::all_of(node.facts.taints.begin(), node.facts.taints.end(), [&](const Taint& taint) {
           return !taint.KeepsPodsAway() || Tolerated(taint, tolerations);
         });
}

void SpreadGroup::CountPods(std::size_t constraint, const NodeInfo& node, std::int64_t change) {
  if (!Includes(constraints[constraint], node)) return;
  pods[constraint].Add(node.domains[constraints[constraint].key], change);
  if (hard) least_[constraint] = -1;
}

void SpreadGroup::CountNode(const NodeInfo& node, int change) {
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    if (!Includes(constraints[i], node)) continue;
    nodes[i].Add(node.domains[constraints[i].key], change);
    least_[i] = -1;
  }
}

void SpreadGroup::Clear() {
  pods.assign(constraints.size(), {});
  nodes.assign(constraints.size(), {});
  least_.assign(constraints.size(), -1);
}

// mirrors minMatchNum() of plugins/podtopologyspread/filtering.go, 1.36, which during a preemption may take a
// value that is too high for the least one.
std::int64_t SpreadGroup::Least(std::size_t constraint) const {
  std::int64_t& least = least_[constraint];
  if (least >= 0) return least;
  std::int64_t domains = 0;
  least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t domain = 1; domain < nodes[constraint].size(); ++domain) {
    if (nodes[constraint].At(domain) == 0) continue;
    ++domains;
    least = std::min(least, pods[constraint].At(domain));
  }
  if (domains < std::max<std::int64_t>(1, constraints[constraint].min_domains)) least = 0;
  return least;
}

}  // namespace terrarium::kubelet_fake::scheduling
