#include "controllers/replicaset/internal/replica_status.h"

#include <cstdint>

#include "api/json_access.h"

namespace terrarium::controllers::replicaset {
namespace {

using api::Json;

constexpr const char* kFailureCondition = "ReplicaFailure";

// Optional counts are omitted when they are 0.
void SetCount(Json& status, const char* field, std::int64_t count) {
  if (count == 0)
    status.erase(field);
  else
    status[field] = count;
}

// An existing ReplicaFailure condition is left untouched, even if the message differs.
void SetFailure(Json& status, const std::optional<ReplicaFailure>& failure, api::Time now) {
  Json conditions = Json::array();
  for (const Json& condition : api::ListAt(status, "conditions")) {
    const bool is_failure = api::StringAt(condition, "type") == kFailureCondition;
    if (is_failure && failure) return;
    if (!is_failure) conditions.push_back(condition);
  }
  if (failure)
    conditions.push_back({{"type", kFailureCondition},
                          {"status", "True"},
                          {"lastTransitionTime", api::FormatTime(now)},
                          {"reason", failure->reason},
                          {"message", failure->message}});
  if (conditions.empty())
    status.erase("conditions");
  else
    status["conditions"] = std::move(conditions);
}

}  // namespace

Json NextStatus(const Json& owner, const ReplicaCounts& counts, const std::optional<ReplicaFailure>& failure,
                api::Time now) {
  Json status = api::ObjectAt(owner, "status");
  status["replicas"] = counts.replicas;
  SetCount(status, "fullyLabeledReplicas", counts.fully_labeled);
  SetCount(status, "readyReplicas", counts.ready);
  SetCount(status, "availableReplicas", counts.available);
  SetCount(status, "observedGeneration", api::IntAt(owner, 0, "metadata", "generation"));
  if (counts.terminating)
    status["terminatingReplicas"] = *counts.terminating;
  else
    status.erase("terminatingReplicas");
  SetFailure(status, failure, now);
  return status;
}

}  // namespace terrarium::controllers::replicaset
