#pragma once

// The numbers of a Deployment and its ReplicaSets that the rollout arithmetic needs, without their documents.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "api/base/clock.h"

namespace terrarium::controllers::deployment {

struct ReplicaSetSize {
  std::string name;
  api::Time created{};
  std::int64_t replicas = 0;         // spec.replicas
  std::int64_t status_replicas = 0;  // status.*, 0 where absent
  std::int64_t available = 0;
  std::int64_t terminating = 0;
  // The annotations; nullopt when absent or malformed.
  std::optional<std::int64_t> desired;       // deployment.kubernetes.io/desired-replicas
  std::optional<std::int64_t> max;           // deployment.kubernetes.io/max-replicas
  std::optional<std::int64_t> before_scale;  // deployment.kubernetes.io/replicaset-replicas-before-scale
  // status.observedGeneration has reached the ReplicaSet's generation. Until then status may lack pods of an
  // earlier, larger spec.replicas.
  bool status_current = true;

  // The pods that the Deployment controller has counted itself; 0 where it does not count. A ReplicaSet's
  // status may be older: it may lack pods that the ReplicaSet controller has just created, and count pods as
  // live that it has just deleted (rollout_property_test.cc has the sequences of events).
  std::int64_t seen_live = 0;
  std::int64_t seen_terminating = 0;

  // Pods that exist or will exist: includes pods that a lowered spec.replicas has not removed yet, and pods
  // that a raised one has not created yet. Status and count are of different moments; the larger one is used.
  std::int64_t Pods() const {
    return std::max(std::max(replicas, status_replicas) + terminating,
                    std::max(replicas, seen_live) + seen_terminating);
  }
  // Some of its pods are being removed, or were deleted without having been observed as terminating.
  bool Shrinking() const { return std::max(status_replicas, seen_live) > replicas; }
};

// Orders by creation time, then by name.
inline bool IsOlder(const ReplicaSetSize& a, const ReplicaSetSize& b) {
  return a.created != b.created ? a.created < b.created : a.name < b.name;
}

struct DeploymentSize {
  std::int64_t replicas = 0;         // spec.replicas
  std::int64_t max_surge = 0;        // an absolute number; 0 under Recreate
  std::int64_t max_unavailable = 0;  // at most `replicas`; 0 under Recreate
  std::int64_t status_replicas = 0;  // status.replicas
  bool rolling = true;               // RollingUpdate; otherwise Recreate
  // podReplacementPolicy is TerminationComplete and its gates are on: terminating pods count against
  // PodsMax().
  bool waits_for_termination = false;

  std::int64_t PodsMax() const { return replicas + max_surge; }
};

}  // namespace terrarium::controllers::deployment
