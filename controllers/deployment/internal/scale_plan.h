#pragma once

// The sizes of the ReplicaSets of a Deployment that is scaled or paused. Pure. Mirrors scale() of
// pkg/controller/deployment/sync.go, v1.36.

#include <cstddef>
#include <span>
#include <vector>

#include "controllers/deployment/internal/proportional_scaling.h"
#include "controllers/deployment/internal/replica_sets.h"
#include "controllers/deployment/internal/rollout.h"

namespace terrarium::controllers::deployment {

// A ReplicaSet of that size when its scale is complete.
ScaledSet Sized(const DeploymentSize& deployment, std::size_t index, std::int64_t replicas);

// Whether the Deployment has been scaled and its ReplicaSets must follow before a rollout goes on.
bool MustScale(const DeploymentSize& deployment, std::span<const ReplicaSetSize> sets);

// The sizes of the ReplicaSets in this step of scaling, possibly unchanged. If at most one has pods, it, or
// else the newest, gets all replicas. If the new one is complete, the others are scaled to 0. Otherwise all
// keep their proportions. REQUIRES: `sets` are sorted, oldest first; `new_index` may be kNotThereYet.
std::vector<ScaledSet> PlanScale(const DeploymentSize& deployment, std::span<const ReplicaSetSize> sets,
                                 std::size_t new_index);

}  // namespace terrarium::controllers::deployment
