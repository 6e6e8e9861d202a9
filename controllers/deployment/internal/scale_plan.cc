#include "controllers/deployment/internal/scale_plan.h"

namespace terrarium::controllers::deployment {
namespace {

std::vector<std::size_t> ActiveOf(std::span<const ReplicaSetSize> sets) {
  std::vector<std::size_t> active;
  for (std::size_t i = 0; i < sets.size(); ++i)
    if (sets[i].replicas > 0) active.push_back(i);
  return active;
}

// The set has all pods that the Deployment wants, they are available, and its annotation is up to date.
bool IsSaturated(const DeploymentSize& deployment, const ReplicaSetSize& set) {
  return set.replicas == deployment.replicas && set.desired == deployment.replicas &&
         set.available == deployment.replicas;
}

// DIVERGES: a set of the right size whose desired-replicas annotation is outdated gets the new value.
// Kubernetes leaves the annotation, and from then on treats the Deployment as being scaled.
std::vector<ScaledSet> PlanOne(const DeploymentSize& deployment, std::span<const ReplicaSetSize> sets,
                               std::size_t index) {
  const std::int64_t replicas = NewReplicas(deployment, sets, index);
  if (replicas == sets[index].replicas && !IsScaling(deployment, sets)) return {};
  return {Sized(deployment, index, replicas)};
}

}  // namespace

ScaledSet Sized(const DeploymentSize& deployment, std::size_t index, std::int64_t replicas) {
  return {.index = index,
          .replicas = replicas,
          .desired = deployment.replicas,
          .max = deployment.PodsMax(),
          .before_scale = std::nullopt};
}

// DIVERGES: a change of the strategy in mid-rollout can leave several active sets under Recreate. Kubernetes
// then does nothing, indefinitely. Here the rollout scales the old sets down and the new one to its size.
bool MustScale(const DeploymentSize& deployment, std::span<const ReplicaSetSize> sets) {
  return IsScaling(deployment, sets) && (deployment.rolling || ActiveOf(sets).size() <= 1);
}

std::vector<ScaledSet> PlanScale(const DeploymentSize& deployment, std::span<const ReplicaSetSize> sets,
                                 std::size_t new_index) {
  if (sets.empty()) return {};
  const std::vector<std::size_t> active = ActiveOf(sets);
  const std::size_t newest = new_index == kNotThereYet ? sets.size() - 1 : new_index;
  if (active.size() <= 1) return PlanOne(deployment, sets, active.empty() ? newest : active[0]);
  if (new_index != kNotThereYet && IsSaturated(deployment, sets[new_index])) {
    std::vector<ScaledSet> gone;
    for (std::size_t index : active)
      if (index != new_index) gone.push_back(Sized(deployment, index, 0));
    return gone;
  }
  if (!deployment.rolling) return {};
  return ScaleProportionally(deployment, sets);
}

}  // namespace terrarium::controllers::deployment
