#include "apiserver/subresources/internal/pod_conditions.h"

#include <utility>

#include "api/json_access.h"

namespace terrarium::apiserver {

void SetPodConditionTrue(api::Json& pod, const PodCondition& condition, api::Time now) {
  api::Json next = {{"type", condition.type},
                    {"status", "True"},
                    {"lastProbeTime", nullptr},
                    {"lastTransitionTime", api::FormatTime(now)}};
  if (!condition.reason.empty()) next["reason"] = condition.reason;
  if (!condition.message.empty()) next["message"] = condition.message;
  api::Json& conditions = pod["status"]["conditions"];
  if (conditions.is_null()) conditions = api::Json::array();
  for (api::Json& existing : conditions) {
    if (api::StringAt(existing, "type") != condition.type) continue;
    if (api::StringAt(existing, "status") == "True" && api::Find(existing, "lastTransitionTime") != nullptr)
      next["lastTransitionTime"] = existing["lastTransitionTime"];
    existing = std::move(next);
    return;
  }
  conditions.push_back(std::move(next));
}

}  // namespace terrarium::apiserver
