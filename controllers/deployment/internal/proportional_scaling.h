#pragma once

// Scaling a Deployment that has several ReplicaSets with pods: each in proportion to its size, so that
// scaling neither hastens nor undoes a rollout. Under TerminationComplete terminating pods take up room, so a
// scale may have to happen in parts; the annotations of each ReplicaSet store its size before the scale.
// Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "controllers/deployment/internal/replica_sets.h"

namespace terrarium::controllers::deployment {

// The target state of a ReplicaSet after this step of scaling.
struct ScaledSet {
  std::size_t index = 0;  // into the span given
  std::int64_t replicas = 0;
  // The three annotations. desired and max: nullopt leaves them as they are.
  std::optional<std::int64_t> desired = {};
  std::optional<std::int64_t> max = {};
  std::optional<std::int64_t> before_scale = {};  // nullopt: the scale is complete, remove the annotation
};

// `all`: every ReplicaSet of the Deployment, including those without replicas, whose terminating pods take up
// room. The result has the active ones (spec.replicas > 0) only, largest first.
std::vector<ScaledSet> ScaleProportionally(const DeploymentSize& deployment,
                                           std::span<const ReplicaSetSize> all);

// Whether the ReplicaSets with pods have yet to follow the Deployment's spec.replicas: some was sized for
// another one, or its scale is not complete.
bool IsScaling(const DeploymentSize& deployment, std::span<const ReplicaSetSize> all);

}  // namespace terrarium::controllers::deployment
