#include "api/core_v1/pod.h"

#include <algorithm>

#include "api/json_access.h"

namespace terrarium::api {
namespace {

constexpr Phase kPhases[] = {Phase::kPending, Phase::kUnknown, Phase::kRunning, Phase::kSucceeded,
                             Phase::kFailed};

bool IsSidecar(const Json& pod, std::string_view init_container) {
  for (const Json& container : ListAt(pod, "spec", "initContainers"))
    if (StringAt(container, "name") == init_container)
      return StringAt(container, "restartPolicy") == "Always";
  return false;
}

}  // namespace

Phase ParsePhase(std::string_view text) {
  for (Phase phase : kPhases)
    if (text == PhaseName(phase)) return phase;
  return Phase::kPending;
}

std::string_view PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kPending: return "Pending";
    case Phase::kUnknown: return "Unknown";
    case Phase::kRunning: return "Running";
    case Phase::kSucceeded: return "Succeeded";
    case Phase::kFailed: return "Failed";
  }
  return "";
}

bool IsPodTerminal(const Json& pod) { return IsPodPhaseTerminal(StringAt(pod, "status", "phase")); }

PodReadiness ReadinessOf(const Json& pod) {
  const Json* condition = FindCondition(pod, "Ready");
  if (condition == nullptr || StringAt(*condition, "status") != "True") return {};
  return {.ready = true, .since = ParseTime(StringAt(*condition, "lastTransitionTime"))};
}

PodRestarts RestartsOf(const Json& pod) {
  PodRestarts restarts;
  for (const Json& status : ListAt(pod, "status", "containerStatuses")) {
    const int count = static_cast<int>(IntAt(status, 0, "restartCount"));
    restarts.total += count;
    restarts.most = std::max(restarts.most, count);
  }
  for (const Json& status : ListAt(pod, "status", "initContainerStatuses")) {
    const int count = static_cast<int>(IntAt(status, 0, "restartCount"));
    restarts.total += count;
    if (count > restarts.most_sidecar && IsSidecar(pod, StringAt(status, "name")))
      restarts.most_sidecar = count;
  }
  return restarts;
}

const Json* FindCondition(const Json& object, std::string_view type) {
  for (const Json& condition : ListAt(object, "status", "conditions"))
    if (StringAt(condition, "type") == type) return &condition;
  return nullptr;
}

std::optional<Json> ConditionChange(const Json& pod, const PodCondition& wanted, Time now) {
  Json change = {{"type", wanted.type},
                 {"status", wanted.status},
                 {"reason", wanted.reason},
                 {"message", wanted.message},
                 {"lastTransitionTime", FormatTime(now)}};
  const std::int64_t generation = IntAt(pod, 0, "metadata", "generation");
  if (generation != 0) change["observedGeneration"] = generation;
  const Json* existing = FindCondition(pod, wanted.type);
  if (existing == nullptr) return change;
  if (StringAt(*existing, "status") != wanted.status) return change;
  if (StringAt(*existing, "reason") == wanted.reason && StringAt(*existing, "message") == wanted.message)
    return std::nullopt;
  change.erase("lastTransitionTime");
  return change;
}

}  // namespace terrarium::api
