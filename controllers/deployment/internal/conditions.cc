#include "controllers/deployment/internal/conditions.h"

#include <utility>

#include "api/json_access.h"

namespace terrarium::controllers::deployment {

using api::Json;
using api::StringAt;

Json MakeCondition(const Condition& condition, api::Time now) {
  std::string time = api::FormatTime(now);
  return {{"type", condition.type},       {"status", condition.status}, {"reason", condition.reason},
          {"message", condition.message}, {"lastTransitionTime", time}, {"lastUpdateTime", time}};
}

const Json* FindCondition(const Json& conditions, std::string_view type) {
  for (const Json& condition : conditions)
    if (StringAt(condition, "type") == type) return &condition;
  return nullptr;
}

void SetCondition(Json& conditions, Json condition) {
  std::string_view type = StringAt(condition, "type");
  if (const Json* before = deployment::FindCondition(conditions, type)) {
    const bool same_status = StringAt(*before, "status") == StringAt(condition, "status");
    if (same_status && StringAt(*before, "reason") == StringAt(condition, "reason")) return;
    if (same_status) condition["lastTransitionTime"] = StringAt(*before, "lastTransitionTime");
    RemoveCondition(conditions, StringAt(condition, "type"));
  }
  conditions.push_back(std::move(condition));
}

void RemoveCondition(Json& conditions, std::string_view type) {
  Json kept = Json::array();
  for (Json& condition : conditions)
    if (StringAt(condition, "type") != type) kept.push_back(std::move(condition));
  conditions = std::move(kept);
}

void NotePause(bool paused, api::Time now, Json& conditions) {
  const Json* progressing = deployment::FindCondition(conditions, kProgressing);
  std::string_view reason = progressing == nullptr ? std::string_view() : StringAt(*progressing, "reason");
  if (reason == kDeadlineExceeded || paused == (reason == kPaused)) return;
  const Condition paused_now{kProgressing, "Unknown", kPaused, "Deployment is paused"};
  const Condition resumed{kProgressing, "Unknown", kResumed, "Deployment is resumed"};
  SetCondition(conditions, MakeCondition(paused ? paused_now : resumed, now));
}

void CopyFailure(const Json& replica_set_condition, Json& conditions) {
  if (replica_set_condition.is_null()) return RemoveCondition(conditions, kReplicaFailure);
  Json condition = replica_set_condition;
  // A ReplicaSet's condition has but one time.
  if (const Json* time = api::Find(replica_set_condition, "lastTransitionTime"))
    condition["lastUpdateTime"] = *time;
  SetCondition(conditions, std::move(condition));
}

}  // namespace terrarium::controllers::deployment
