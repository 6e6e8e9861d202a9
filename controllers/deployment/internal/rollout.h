#pragma once

// How far the ReplicaSets of a rollout may grow and must shrink. Pure.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "api/json.h"
#include "controllers/deployment/internal/replica_sets.h"

namespace terrarium::controllers::deployment {

struct Fenceposts {
  std::int64_t surge = 0;
  std::int64_t unavailable = 0;
};
// Resolves integers or percentages of `replicas`: surge rounds up, unavailability rounds down. When both are
// 0, one pod may be unavailable, since the rollout could not progress otherwise. nullptr counts as 0.
Fenceposts ResolveFenceposts(const api::Json* max_surge, const api::Json* max_unavailable,
                             std::int64_t replicas);

struct Resize {
  std::size_t index = 0;  // into the span given
  std::int64_t replicas = 0;
};

// How many pods may be created under TerminationComplete: PodsMax() minus the Pods() of all ReplicaSets, at
// least 0. It is 0 while the status of any ReplicaSet is not current, since that ReplicaSet may have
// uncounted pods.
std::int64_t RoomForPods(const DeploymentSize& deployment, std::span<const ReplicaSetSize> all);

// spec.replicas for the ReplicaSet of the current template. `new_index` is its place in `all`, or
// kNotThereYet before its creation. The result is at most the Deployment's spec.replicas and fits into the
// room that the other sets leave; scaling down is not limited. Under TerminationComplete a set that is
// Shrinking() does not grow, since its terminating pods would be counted as the new ones.
inline constexpr std::size_t kNotThereYet = static_cast<std::size_t>(-1);
std::int64_t NewReplicas(const DeploymentSize& deployment, std::span<const ReplicaSetSize> all,
                         std::size_t new_index);

// The ReplicaSets of earlier templates to shrink in this step of a rolling update: unhealthy replicas first,
// then as many as availability allows, oldest set first. Empty when no set can shrink.
std::vector<Resize> ShrinkOld(const DeploymentSize& deployment, std::span<const ReplicaSetSize> all,
                              std::size_t new_index);

}  // namespace terrarium::controllers::deployment
