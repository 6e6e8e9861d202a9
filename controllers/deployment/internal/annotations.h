#pragma once

// The annotations in which a Deployment and its ReplicaSets store revisions and sizes. Pure. Changes are
// merge patches of metadata.annotations: values to set, null to remove; an empty object for no changes.

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

// The most characters of a revision history; older revisions are dropped.
inline constexpr std::size_t kRevisionHistoryMax = 2000;

// False for annotations that are never copied between a Deployment and its ReplicaSets.
bool IsCopied(std::string_view annotation);

// 0 when absent, nullopt when malformed.
std::optional<std::int64_t> RevisionOf(const api::Json& annotations);
// nullopt when absent, or not an int32 of at least 0.
std::optional<std::int64_t> ReplicasAt(const api::Json& annotations, std::string_view key);
// The revision of a requested rollback, 0 for the last one. nullopt when absent or malformed.
std::optional<std::int64_t> RollbackAskedFor(const api::Json& deployment_annotations);

// The changes for the ReplicaSet of the current template: the Deployment's annotations, and `revision` when
// its own is smaller, which then is added to the history.
api::Json NewSetChanges(const api::Json& deployment_annotations, const api::Json& set_annotations,
                        std::int64_t revision);
// The sizes that the annotations of a ReplicaSet lack.
api::Json ReplicasChanges(const api::Json& set_annotations, const ScaledSet& wanted);
// All annotations of a Deployment after a rollback to a ReplicaSet: its own ones that are never copied, and
// the ReplicaSet's for the others. The request for a rollback is removed.
api::Json RolledBack(const api::Json& deployment_annotations, const api::Json& set_annotations);

}  // namespace terrarium::controllers::deployment
