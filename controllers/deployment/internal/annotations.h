#pragma once

// The annotations by which a Deployment and its ReplicaSets remember revisions and sizes. Pure. Changes are
// given as a merge patch of metadata.annotations says them: values to set, null to remove; an empty object
// when there are none.

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/json.h"
#include "controllers/deployment/internal/proportional_scaling.h"

namespace terrarium::controllers::deployment {

inline constexpr std::string_view kRevision = "deployment.kubernetes.io/revision";
inline constexpr std::string_view kRevisionHistory = "deployment.kubernetes.io/revision-history";
inline constexpr std::string_view kDesiredReplicas = "deployment.kubernetes.io/desired-replicas";
inline constexpr std::string_view kMaxReplicas = "deployment.kubernetes.io/max-replicas";
inline constexpr std::string_view kReplicasBeforeScale =
    "deployment.kubernetes.io/replicaset-replicas-before-scale";
inline constexpr std::string_view kRollbackTo = "deprecated.deployment.rollback.to";

// Characters of a revision history; older revisions are forgotten beyond that.
inline constexpr std::size_t kRevisionHistoryMax = 2000;

// False for what belongs to one object alone and is never copied between a Deployment and its ReplicaSets.
bool IsCopied(std::string_view annotation);

// 0 when there is none, nullopt when it cannot be read.
std::optional<std::int64_t> RevisionOf(const api::Json& annotations);
// nullopt when there is none, or none that is an int32 from 0 up.
std::optional<std::int64_t> ReplicasAt(const api::Json& annotations, std::string_view key);
// The revision that a rollback was asked for, 0 for the last one. What cannot be read asks for nothing.
std::optional<std::int64_t> RollbackAskedFor(const api::Json& deployment_annotations);

// What the ReplicaSet of the current template lacks: the Deployment's annotations, and `revision` when its
// own is smaller, which then becomes history.
api::Json NewSetChanges(const api::Json& deployment_annotations, const api::Json& set_annotations,
                        std::int64_t revision);
// Sizes that the annotations of a ReplicaSet do not tell yet.
api::Json ReplicasChanges(const api::Json& set_annotations, const ScaledSet& wanted);
// All annotations of a Deployment that goes back to a ReplicaSet: its own of those that are not copied, and
// the ReplicaSet's of the others. No rollback is asked for any more.
api::Json RolledBack(const api::Json& deployment_annotations, const api::Json& set_annotations);

}  // namespace terrarium::controllers::deployment
