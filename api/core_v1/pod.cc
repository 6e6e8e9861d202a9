#include "api/core_v1/pod.h"

#include "api/json_access.h"

namespace terrarium::api {
namespace {

// Places among the pod's selectable fields, in the order in which the apiserver declares them.
constexpr std::size_t kNodeNameField = 0;
constexpr std::size_t kSchedulerNameField = 2;
constexpr std::size_t kPhaseField = 5;

const std::string& FieldAt(const Object& pod, std::size_t index) {
  static const std::string kNone;
  const auto& fields = pod.header().fields;
  return index < fields.size() ? fields[index] : kNone;
}

}  // namespace

const std::string& PodNodeName(const Object& pod) { return FieldAt(pod, kNodeNameField); }
const std::string& PodSchedulerName(const Object& pod) { return FieldAt(pod, kSchedulerNameField); }
const std::string& PodPhase(const Object& pod) { return FieldAt(pod, kPhaseField); }

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
