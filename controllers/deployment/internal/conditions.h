#pragma once

// status.conditions of a Deployment, in Kubernetes' order: the last changed condition is the last. Pure.

#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/json.h"

namespace terrarium::controllers::deployment {

inline constexpr std::string_view kAvailable = "Available";
inline constexpr std::string_view kProgressing = "Progressing";
inline constexpr std::string_view kReplicaFailure = "ReplicaFailure";

// Reasons of Progressing.
inline constexpr std::string_view kSetCreated = "NewReplicaSetCreated";
inline constexpr std::string_view kSetFound = "FoundNewReplicaSet";
inline constexpr std::string_view kSetNotCreated = "ReplicaSetCreateError";
inline constexpr std::string_view kSetUpdated = "ReplicaSetUpdated";
inline constexpr std::string_view kSetAvailable = "NewReplicaSetAvailable";
inline constexpr std::string_view kDeadlineExceeded = "ProgressDeadlineExceeded";
inline constexpr std::string_view kPaused = "DeploymentPaused";
inline constexpr std::string_view kResumed = "DeploymentResumed";

struct Condition {
  std::string_view type;
  std::string_view status;
  std::string_view reason;
  std::string message;
};
api::Json MakeCondition(const Condition& condition, api::Time now);

// nullptr when no condition has that type.
const api::Json* FindCondition(const api::Json& conditions, std::string_view type);
// A no-op when a condition with that status and reason exists, even with another message. The transition time
// changes only with the status.
void SetCondition(api::Json& conditions, api::Json condition);
void RemoveCondition(api::Json& conditions, std::string_view type);

// Records a pause or resume in Progressing, unless it is recorded already or the progress deadline is
// exceeded. A paused Deployment does not miss its deadline.
void NotePause(bool paused, api::Time now, api::Json& conditions);
// Copies the ReplicaFailure condition of a ReplicaSet; null removes it.
void CopyFailure(const api::Json& replica_set_condition, api::Json& conditions);

}  // namespace terrarium::controllers::deployment
