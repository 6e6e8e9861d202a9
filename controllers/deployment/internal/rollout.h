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
// Integers or percentages of `replicas`, surge rounded up and unavailability down; when both come to 0, one pod may be
// unavailable, since nothing could move otherwise. nullptr counts as 0.
Fenceposts ResolveFenceposts(const api::Json* max_surge, const api::Json* max_unavailable, std::int64_t replicas);

struct Resize {
  std::size_t index = 0;  // into the span given
  std::int64_t replicas = 0;
};

// How many pods there is room for when termination is waited for: PodsMax() less the Pods() of all ReplicaSets, not
// below 0. None while the status of some ReplicaSet is not current, since it may have pods that nobody has counted.
std::int64_t RoomForPods(const DeploymentSize& deployment, std::span<const ReplicaSetSize> all);

// spec.replicas of the ReplicaSet of the current template, which is one of `all` or, at its creation, not there yet
// (npos): never above the Deployment's, and no larger than the room beside the others allows; scaling down is free.
// When termination is waited for, a set that is Shrinking() does not grow: the pods on their way out would be counted
// as the new ones.
inline constexpr std::size_t kNotThereYet = static_cast<std::size_t>(-1);
std::int64_t NewReplicas(const DeploymentSize& deployment, std::span<const ReplicaSetSize> all, std::size_t new_index);

// By how much the ReplicaSets of earlier templates shrink in this step of a rolling update: unhealthy replicas first,
// then as many as the available ones allow, oldest set first. Empty when nothing can shrink.
std::vector<Resize> ShrinkOld(const DeploymentSize& deployment, std::span<const ReplicaSetSize> all,
                              std::size_t new_index);

}  // namespace terrarium::controllers::deployment
