#include "controllers/deployment/internal/rollout.h"

#include <algorithm>

#include "api/int_or_percent.h"

namespace terrarium::controllers::deployment {
namespace {

using api::Json;

// Pods beyond spec.replicas are about to be deleted, so their availability does not last.
std::int64_t LastingAvailable(const ReplicaSetSize& set) { return std::min(set.available, set.replicas); }

// Removes up to `budget` unavailable replicas from `old`, in its order. The ReplicaSets delete unavailable
// pods first, so this costs no availability, and broken pods do not block the rollout. Returns false at a set
// with more available pods than spec.replicas: it has not finished an earlier scale-down, so it is unknown
// which of its pods will remain.
bool DropUnhealthy(std::span<const ReplicaSetSize> all, std::int64_t budget, std::vector<Resize>& old) {
  for (Resize& set : old) {
    if (budget == 0) return true;
    std::int64_t unhealthy = set.replicas - all[set.index].available;
    if (unhealthy < 0) return false;
    std::int64_t drop = std::min(budget, unhealthy);
    set.replicas -= drop;
    budget -= drop;
  }
  return true;
}

}  // namespace

Fenceposts ResolveFenceposts(const Json* max_surge, const Json* max_unavailable, std::int64_t replicas) {
  Fenceposts posts{api::ResolveIntOrPercent(max_surge, replicas, api::Rounding::kUp),
                   api::ResolveIntOrPercent(max_unavailable, replicas, api::Rounding::kDown)};
  if (posts.surge == 0 && posts.unavailable == 0) posts.unavailable = 1;
  return posts;
}

std::int64_t RoomForPods(const DeploymentSize& deployment, std::span<const ReplicaSetSize> all) {
  std::int64_t room = deployment.PodsMax();
  for (const ReplicaSetSize& set : all) {
    if (!set.status_current) return 0;
    room -= set.Pods();
  }
  return std::max<std::int64_t>(room, 0);
}

std::int64_t NewReplicas(const DeploymentSize& deployment, std::span<const ReplicaSetSize> all,
                         std::size_t new_index) {
  std::int64_t present = new_index == kNotThereYet ? 0 : all[new_index].replicas;
  if (present >= deployment.replicas) return deployment.replicas;
  std::int64_t room = deployment.replicas;
  if (deployment.waits_for_termination) {
    bool shrinking = new_index != kNotThereYet && all[new_index].Shrinking();
    room = shrinking ? 0 : RoomForPods(deployment, all);
  } else if (deployment.rolling) {
    room = deployment.PodsMax();
    for (const ReplicaSetSize& set : all) room -= set.replicas;
  }
  return present + std::clamp<std::int64_t>(room, 0, deployment.replicas - present);
}

// Mirrors reconcileOldReplicaSets of pkg/controller/deployment/rolling.go (1.36). Example: 10 replicas,
// maxUnavailable 2, maxSurge 3. With 8 old pods and 5 new ones that crash, 13 - 8 - 5 = 0 pods may go, so a
// failing template never costs old pods, not even broken ones. After a third template 13 - 8 - 0 = 5 may go.
// DIVERGES: pods beyond spec.replicas do not count as available. Kubernetes counts them, and can therefore
// fall below the guaranteed availability when another ReplicaSet has unhealthy replicas to drop at the same
// moment. DIVERGES: a set that loses both unhealthy and available replicas is resized once, not twice.
std::vector<Resize> ShrinkOld(const DeploymentSize& deployment, std::span<const ReplicaSetSize> all,
                              std::size_t new_index) {
  const std::int64_t available_min = deployment.replicas - deployment.max_unavailable;
  std::int64_t may_go = -available_min;
  std::int64_t spare = -available_min;
  std::vector<Resize> old;
  for (std::size_t i = 0; i < all.size(); ++i) {
    spare += LastingAvailable(all[i]);
    may_go += i == new_index ? LastingAvailable(all[i]) : all[i].replicas;
    if (i != new_index && all[i].replicas > 0) old.push_back({i, all[i].replicas});
  }
  if (may_go <= 0) return {};
  std::sort(old.begin(), old.end(),
            [&](const Resize& a, const Resize& b) { return IsOlder(all[a.index], all[b.index]); });
  if (DropUnhealthy(all, may_go, old)) {
    for (Resize& set : old) {
      std::int64_t drop = std::clamp<std::int64_t>(spare, 0, set.replicas);
      set.replicas -= drop;
      spare -= drop;
    }
  }
  std::erase_if(old, [&](const Resize& set) { return set.replicas == all[set.index].replicas; });
  return old;
}

}  // namespace terrarium::controllers::deployment
