#pragma once

// A Deployment and its ReplicaSets as the arithmetic of rollouts sees them: numbers, without documents.

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
  // What the annotations say; nullopt when absent or unreadable.
  std::optional<std::int64_t> desired;       // deployment.kubernetes.io/desired-replicas
  std::optional<std::int64_t> max;           // deployment.kubernetes.io/max-replicas
  std::optional<std::int64_t> before_scale;  // deployment.kubernetes.io/replicaset-replicas-before-scale
  // status.observedGeneration is the ReplicaSet's generation. Until then the pods of an earlier, larger spec.replicas
  // may be missing in status.
  bool status_current = true;

  // Pods that there are or are about to be: those that a lowered spec.replicas has not removed yet count, and so do
  // those that a raised one has not brought yet.
  std::int64_t Pods() const { return (replicas > status_replicas ? replicas : status_replicas) + terminating; }
  // Some of its pods go, perhaps have been deleted without having been seen terminating.
  bool Shrinking() const { return status_replicas > replicas; }
};

// The order of age; names decide between sets of the same second.
inline bool IsOlder(const ReplicaSetSize& a, const ReplicaSetSize& b) {
  return a.created != b.created ? a.created < b.created : a.name < b.name;
}

struct DeploymentSize {
  std::int64_t replicas = 0;         // spec.replicas
  std::int64_t max_surge = 0;        // as numbers; 0 under Recreate
  std::int64_t max_unavailable = 0;  // at most `replicas`; 0 under Recreate
  std::int64_t status_replicas = 0;  // status.replicas
  bool rolling = true;               // RollingUpdate, else Recreate
  // podReplacementPolicy TerminationComplete with its gates on: terminating pods take up room.
  bool waits_for_termination = false;

  std::int64_t PodsMax() const { return replicas + max_surge; }
};

}  // namespace terrarium::controllers::deployment
