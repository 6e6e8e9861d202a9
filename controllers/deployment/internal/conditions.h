#pragma once

// status.conditions of a Deployment, in the order Kubernetes leaves them in: what changed last stands last.
// Pure.

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

// nullptr when there is none of that type.
const api::Json* FindCondition(const api::Json& conditions, std::string_view type);
// Nothing happens when one with that status and reason is there already, not even to its message. The
// transition time moves only when the status does.
void SetCondition(api::Json& conditions, api::Json condition);
void RemoveCondition(api::Json& conditions, std::string_view type);

// Says that the Deployment was paused or resumed, unless that has been said or its deadline has passed: while
// it is paused, lack of progress is none.
void NotePause(bool paused, api::Time now, api::Json& conditions);
// A failure of a ReplicaSet as the Deployment's own; null takes it away.
void CopyFailure(const api::Json& replica_set_condition, api::Json& conditions);

}  // namespace terrarium::controllers::deployment
