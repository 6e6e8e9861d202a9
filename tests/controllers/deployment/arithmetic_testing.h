#pragma once

// ReplicaSets and Deployments as numbers, for the tests of the arithmetic.

#include <cstdint>
#include <string>
#include <vector>

#include "controllers/deployment/internal/proportional_scaling.h"
#include "controllers/deployment/internal/replica_sets.h"

namespace terrarium::controllers::deployment {

// All pods running and available. The names order by age: "a" is older than "b".
inline ReplicaSetSize Set(std::string name, std::int64_t replicas) {
  ReplicaSetSize set;
  set.created = api::Time(std::chrono::seconds(name[0]));
  set.name = std::move(name);
  set.replicas = set.status_replicas = set.available = replicas;
  return set;
}

// As the Deployment controller left it when the Deployment had `desired` replicas and at most `max` pods.
inline ReplicaSetSize SizedFor(std::int64_t desired, std::int64_t max, ReplicaSetSize set) {
  set.desired = desired;
  set.max = max;
  return set;
}

inline ReplicaSetSize Available(std::int64_t available, ReplicaSetSize set) {
  set.available = available;
  return set;
}

inline ReplicaSetSize Terminating(std::int64_t terminating, ReplicaSetSize set) {
  set.terminating = terminating;
  return set;
}

// spec.replicas is `replicas`, and its controller has not acted on it yet.
inline ReplicaSetSize ScaledTo(std::int64_t replicas, ReplicaSetSize set) {
  set.replicas = replicas;
  return set;
}

// In the middle of a scale that began with `replicas` of at most `max` pods.
inline ReplicaSetSize ScaledFrom(std::int64_t replicas, std::int64_t max, ReplicaSetSize set) {
  set.before_scale = replicas;
  set.max = max;
  return set;
}

inline DeploymentSize Rolling(std::int64_t replicas, std::int64_t max_surge, std::int64_t max_unavailable) {
  DeploymentSize deployment;
  deployment.replicas = deployment.status_replicas = replicas;
  deployment.max_surge = max_surge;
  deployment.max_unavailable = max_unavailable;
  return deployment;
}

inline DeploymentSize Recreate(std::int64_t replicas) {
  DeploymentSize deployment = Rolling(replicas, 0, 0);
  deployment.rolling = false;
  return deployment;
}

inline DeploymentSize Waiting(DeploymentSize deployment) {
  deployment.waits_for_termination = true;
  return deployment;
}

// The ReplicaSets after one scaling step whose pods followed immediately. Terminating pods stay.
inline void Apply(const std::vector<ScaledSet>& scaled, std::vector<ReplicaSetSize>& sets) {
  for (const ScaledSet& after : scaled) {
    ReplicaSetSize& set = sets[after.index];
    set.replicas = set.status_replicas = set.available = after.replicas;
    if (after.desired) set.desired = after.desired;
    if (after.max) set.max = after.max;
    set.before_scale = after.before_scale;
  }
}

inline std::vector<std::int64_t> Sizes(const std::vector<ReplicaSetSize>& sets) {
  std::vector<std::int64_t> sizes;
  for (const ReplicaSetSize& set : sets) sizes.push_back(set.replicas);
  return sizes;
}

// The sizes of all ReplicaSets, in the order given, after one scaling step.
inline std::vector<std::int64_t> ScaledSizes(const DeploymentSize& deployment,
                                             std::vector<ReplicaSetSize> sets) {
  Apply(ScaleProportionally(deployment, sets), sets);
  return Sizes(sets);
}

}  // namespace terrarium::controllers::deployment
