#include "kubelet-fake/kubelet/rule_book.h"

#include <algorithm>
#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"

namespace terrarium::kubelet_fake {
namespace {

using api::Find;
using api::HoldPoints;
using api::Json;
using api::Path;

HoldPoints Union(HoldPoints a, HoldPoints b) { return {a.ready || b.ready, a.terminating || b.terminating}; }
HoldPoints Minus(HoldPoints a, HoldPoints b) {
  return {a.ready && !b.ready, a.terminating && !b.terminating};
}

api::Result<api::LabelSelector> SelectorOf(const Json* selector) {
  if (selector == nullptr) return api::LabelSelector();
  if (selector->is_string()) return api::LabelSelector::Parse(selector->get_ref<const std::string&>());
  if (selector->is_object()) return api::LabelSelector::FromDocument(selector);
  return api::BadRequest("selector must be a string like app=web or a LabelSelector");
}

}  // namespace

api::Result<PodRule> PodRule::Parse(const Json& document) {
  if (!document.is_object()) return api::BadRequest("a rule is an object");
  for (const auto& [key, value] : document.items()) {
    if (key != "name" && key != "namespace" && key != "selector" && key != "script") {
      return api::BadRequest("unknown field " + api::Quote(key) +
                             ": a rule has name, namespace, selector and script");
    }
    if ((key == "name" || key == "namespace") && !value.is_string())
      return api::BadRequest(key + " must be a string");
  }
  PodRule rule;
  rule.name = api::StringAt(document, "name");
  rule.ns = api::StringAt(document, "namespace");
  if (rule.name.empty()) return api::BadRequest("a rule needs a name");
  auto selector = SelectorOf(Find(document, "selector"));
  if (!selector) return selector.status();
  rule.selector = std::move(*selector);
  const Json* script = Find(document, "script");
  if (script == nullptr) return api::BadRequest("a rule needs a script");
  if (api::FieldErrors errors = api::ParseScriptKeys(*script, Path("script"), &rule.script);
      !errors.empty()) {
    return api::Invalid({"terrarium.dev", "PodRule"}, rule.name, errors);
  }
  rule.document = document;
  return rule;
}

bool PodRule::Matches(const api::ObjectHeader& pod) const {
  return (ns.empty() || ns == pod.ns) && selector.Matches(pod);
}

const PodRule* RuleBook::Find(std::string_view name) const {
  const auto found =
      std::find_if(rules_.begin(), rules_.end(), [&](const PodRule& r) { return r.name == name; });
  return found != rules_.end() ? &*found : nullptr;
}

void RuleBook::Remove(std::string_view name) {
  std::erase_if(rules_, [&](const PodRule& rule) { return rule.name == name; });
}

void RuleBook::HoldRule(std::string_view name, HoldPoints points) {
  const auto rule =
      std::find_if(rules_.begin(), rules_.end(), [&](const PodRule& r) { return r.name == name; });
  const HoldPoints hold = Union(rule->script.hold.value_or(HoldPoints{}), points);
  rule->script.hold = hold;
  rule->document["script"]["hold"] = hold.ready && hold.terminating ? "ready,terminating"
                                     : hold.ready                   ? "ready"
                                                                    : "terminating";
}

void RuleBook::HoldPod(const std::string& uid, HoldPoints points) {
  PodOrders& orders = pods_[uid];
  orders.hold = Union(orders.hold, points);
  orders.released = Minus(orders.released, points);
}

void RuleBook::ReleasePod(const std::string& uid, HoldPoints points, std::optional<int> stop_exit_code) {
  PodOrders& orders = pods_[uid];
  orders.hold = Minus(orders.hold, points);
  orders.released = Union(orders.released, points);
  if (points.terminating) orders.stop_exit_code = stop_exit_code;
}

PodDirections RuleBook::Directions(const api::ObjectHeader& pod,
                                   const std::shared_ptr<const api::PodScript>& defaults,
                                   const api::PodScript* own) const {
  PodDirections out{.script = defaults, .hold = {}};
  std::shared_ptr<api::PodScript> merged;
  const auto lay = [&](const api::PodScript& script) {
    if (!merged) out.script = merged = std::make_shared<api::PodScript>(*defaults);
    Overlay(*merged, script);
  };
  for (const PodRule& rule : rules_) {
    if (rule.Matches(pod)) lay(rule.script);
  }
  if (own != nullptr) lay(*own);
  out.hold = out.script->hold.value_or(HoldPoints{});
  const auto orders = pods_.find(pod.uid);
  if (orders == pods_.end()) return out;
  out.hold = Minus(Union(out.hold, orders->second.hold), orders->second.released);
  out.let_go = orders->second.released.terminating;
  out.stop_exit_code = orders->second.stop_exit_code;
  return out;
}

}  // namespace terrarium::kubelet_fake
