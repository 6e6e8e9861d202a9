#include "controllers/pod_gc/internal/removal.h"

#include <utility>

#include "api/core_v1/pod.h"
#include "api/json_access.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::StringAt;

constexpr api::PodCondition kNodeGone = {.type = "DisruptionTarget",
                                         .status = "True",
                                         .reason = "DeletionByPodGC",
                                         .message = "PodGC: node no longer exists"};

}  // namespace

const char* TextOf(RemovalReason reason) {
  switch (reason) {
    case RemovalReason::kTerminated: return "terminated";
    case RemovalReason::kOutOfService: return "out-of-service";
    case RemovalReason::kOrphaned: return "orphaned";
    case RemovalReason::kUnscheduled: break;
  }
  return "unscheduled";
}

std::optional<Json> FailurePatch(const Json& pod, RemovalReason reason, const api::FeatureGates& gates,
                                 api::Time now) {
  const bool conditions = gates.Enabled(api::gate::kPodDisruptionConditions);
  if (!conditions && !gates.Enabled(api::gate::kJobPodReplacementPolicy)) return std::nullopt;
  if (api::IsPodTerminal(pod)) return std::nullopt;
  Json status = {{"phase", "Failed"}};
  const std::int64_t generation = api::IntAt(pod, 0, "metadata", "generation");
  if (generation != 0) status["observedGeneration"] = generation;
  if (conditions && reason == RemovalReason::kOrphaned) {
    if (auto condition = api::ConditionChange(pod, kNodeGone, now))
      status["conditions"] = Json::array({std::move(*condition)});
  }
  return Json{{"metadata", {{"uid", StringAt(pod, "metadata", "uid")}}}, {"status", std::move(status)}};
}

bool HeldByFinalizersOnly(const Json& pod) {
  return api::IsPodTerminal(pod) && api::Find(pod, "metadata", "deletionTimestamp") != nullptr &&
         api::IntAt(pod, -1, "metadata", "deletionGracePeriodSeconds") == 0;
}

}  // namespace terrarium::controllers
