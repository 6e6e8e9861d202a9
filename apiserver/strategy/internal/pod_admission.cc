#include "apiserver/strategy/internal/pod_admission.h"

#include <string>

#include "api/json_access.h"

namespace terrarium::apiserver {
namespace {

using api::Find;
using api::Json;
using api::ListAt;
using api::StringAt;

constexpr int kTolerationSeconds = 300;

bool Tolerates(const Json& tolerations, std::string_view taint) {
  for (const Json& toleration : tolerations) {
    const std::string_view key = StringAt(toleration, "key");
    const std::string_view effect = StringAt(toleration, "effect");
    if ((key == taint || key.empty()) && (effect == "NoExecute" || effect.empty())) return true;
  }
  return false;
}

void AddRequirements(Json& selector, const Json& keys, std::string_view op, const Json& labels) {
  for (const Json& key : keys) {
    if (!key.is_string()) continue;
    const Json* value = Find(labels, key.get_ref<const std::string&>());
    if (value == nullptr) continue;
    selector["matchExpressions"].push_back(
        Json{{"key", key}, {"operator", op}, {"values", Json::array({*value})}});
  }
}

void MergeKeys(Json& term, const Json& labels) {
  if (!term.is_object()) return;
  const auto selector = term.find("labelSelector");
  if (selector == term.end() || !selector->is_object()) return;
  AddRequirements(*selector, ListAt(term, "matchLabelKeys"), "In", labels);
  AddRequirements(*selector, ListAt(term, "mismatchLabelKeys"), "NotIn", labels);
}

// Visits the items of object[key], when it is a list.
template <typename Visit>
void ForEach(Json& object, const char* key, Visit visit) {
  if (!object.is_object()) return;
  const auto it = object.find(key);
  if (it == object.end() || !it->is_array()) return;
  for (Json& item : *it) visit(item);
}

}  // namespace

void AddDefaultTolerations(Json& pod_spec) {
  for (const char* taint : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    if (Tolerates(ListAt(pod_spec, "tolerations"), taint)) continue;
    pod_spec["tolerations"].push_back(Json{{"key", taint},
                                           {"operator", "Exists"},
                                           {"effect", "NoExecute"},
                                           {"tolerationSeconds", kTolerationSeconds}});
  }
}

void MergeMatchLabelKeys(Json& pod_spec, const Json& labels) {
  const auto merge = [&](Json& term) { MergeKeys(term, labels); };
  if (const auto affinity = pod_spec.find("affinity"); affinity != pod_spec.end() && affinity->is_object()) {
    for (const char* field : {"podAffinity", "podAntiAffinity"}) {
      const auto terms = affinity->find(field);
      if (terms == affinity->end()) continue;
      ForEach(*terms, "preferredDuringSchedulingIgnoredDuringExecution", [&](Json& weighted) {
        if (const auto term = weighted.find("podAffinityTerm"); term != weighted.end()) merge(*term);
      });
      ForEach(*terms, "requiredDuringSchedulingIgnoredDuringExecution", merge);
    }
  }
  ForEach(pod_spec, "topologySpreadConstraints", merge);
}

Json SchedulingGatedCondition(api::Time now) {
  return {
      {"type", "PodScheduled"},      {"status", "False"},
      {"lastProbeTime", nullptr},    {"lastTransitionTime", api::FormatTime(now)},
      {"reason", "SchedulingGated"}, {"message", "Scheduling is blocked due to non-empty scheduling gates"}};
}

}  // namespace terrarium::apiserver
