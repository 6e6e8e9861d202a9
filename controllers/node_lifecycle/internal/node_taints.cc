#include "controllers/node_lifecycle/internal/node_taints.h"

#include <algorithm>
#include <utility>

#include "api/core_v1/taint.h"
#include "api/json_access.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ListAt;
using api::StringAt;
namespace taint = api::taint;

struct ConditionTaint {
  std::string_view condition;
  std::string_view status;
  std::string_view taint;
};
constexpr ConditionTaint kConditionTaints[] = {
    {"Ready", "False", taint::kNotReady},
    {"Ready", "Unknown", taint::kUnreachable},
    {"MemoryPressure", "True", taint::kMemoryPressure},
    {"DiskPressure", "True", taint::kDiskPressure},
    {"NetworkUnavailable", "True", taint::kNetworkUnavailable},
    {"PIDPressure", "True", taint::kPidPressure},
};

// The taint's own name when the controller is in charge of it, empty otherwise.
std::string_view OwnName(std::string_view key) {
  if (key == taint::kUnschedulable) return taint::kUnschedulable;
  for (const ConditionTaint& entry : kConditionTaints)
    if (entry.taint == key) return entry.taint;
  return {};
}

std::vector<std::string_view> WantedNoSchedule(const Json& node) {
  std::vector<std::string_view> wanted;
  for (const Json& condition : ListAt(node, "status", "conditions"))
    for (const ConditionTaint& entry : kConditionTaints)
      if (StringAt(condition, "type") == entry.condition && StringAt(condition, "status") == entry.status)
        wanted.push_back(entry.taint);
  if (api::BoolAt(node, "spec", "unschedulable")) wanted.push_back(taint::kUnschedulable);
  return wanted;
}

}  // namespace

TaintChange NoScheduleChange(const Json& node) {
  const std::vector<std::string_view> wanted = WantedNoSchedule(node);
  TaintChange change;
  for (std::string_view key : wanted)
    if (!api::HasTaint(node, key, taint::kNoSchedule)) change.add.push_back({key, taint::kNoSchedule});
  for (const Json& existing : ListAt(node, "spec", "taints")) {
    const std::string_view key = OwnName(StringAt(existing, "key"));
    if (key.empty() || StringAt(existing, "effect") != taint::kNoSchedule) continue;
    const bool stays = std::find(wanted.begin(), wanted.end(), key) != wanted.end();
    if (!stays) change.remove.push_back({key, taint::kNoSchedule});
  }
  return change;
}

TaintChange NoExecuteChange(Ready ready) {
  constexpr TaintName not_ready{taint::kNotReady, taint::kNoExecute};
  constexpr TaintName unreachable{taint::kUnreachable, taint::kNoExecute};
  switch (ready) {
    case Ready::kFalse: return {{not_ready}, {unreachable}};
    case Ready::kUnknown: return {{unreachable}, {not_ready}};
    case Ready::kTrue: return {{}, {unreachable, not_ready}};
    case Ready::kNone: break;
  }
  return {};
}

std::optional<Json> TaintPatch(const Json& node, const TaintChange& change, api::Time now) {
  Json taints = Json::array();
  bool changed = false;
  for (const Json& existing : ListAt(node, "spec", "taints")) {
    const bool removed = std::any_of(change.remove.begin(), change.remove.end(), [&](const TaintName& name) {
      return api::IsTaint(existing, name.key, name.effect);
    });
    changed = changed || removed;
    if (!removed) taints.push_back(existing);
  }
  for (const TaintName& name : change.add) {
    if (api::HasTaint(node, name.key, name.effect)) continue;
    changed = true;
    taints.push_back(Json{{"key", name.key}, {"effect", name.effect}, {"timeAdded", api::FormatTime(now)}});
  }
  if (!changed) return std::nullopt;
  // Taints have no merge key: the list goes as a whole, and only onto the version it was made from.
  Json patch = {{"metadata", {{"resourceVersion", StringAt(node, "metadata", "resourceVersion")}}}};
  patch["spec"]["taints"] = taints.empty() ? Json() : std::move(taints);
  return patch;
}

std::optional<Json> LabelPatch(const Json& node) {
  constexpr std::pair<const char*, const char*> kPairs[] = {
      {"kubernetes.io/os", "beta.kubernetes.io/os"}, {"kubernetes.io/arch", "beta.kubernetes.io/arch"}};
  const Json& labels = api::ObjectAt(node, "metadata", "labels");
  Json changed = Json::object();
  for (const auto& [stable, beta] : kPairs) {
    const Json* value = api::Find(labels, stable);
    if (value == nullptr) continue;
    const Json* old = api::Find(labels, beta);
    if (old == nullptr || *old != *value) changed[beta] = *value;
  }
  if (changed.empty()) return std::nullopt;
  return Json{{"metadata", {{"labels", std::move(changed)}}}};
}

}  // namespace terrarium::controllers
