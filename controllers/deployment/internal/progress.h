#pragma once

// The progress of a rollout: its counters, whether it is complete, has progressed or has exceeded its
// deadline. Pure. Mirrors pkg/controller/deployment/progress.go and calculateStatus, v1.36.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "api/base/clock.h"
#include "api/json.h"
#include "controllers/deployment/internal/replica_set_facts.h"
#include "controllers/deployment/internal/replica_sets.h"

namespace terrarium::controllers::deployment {

// The counters of a Deployment's status.
struct Counters {
  std::int64_t observed_generation = 0;
  std::int64_t replicas = 0;
  std::int64_t updated = 0;
  std::int64_t ready = 0;
  std::int64_t available = 0;
  std::int64_t unavailable = 0;
  std::optional<std::int64_t> terminating;  // as the status reports it
  std::int64_t terminating_pods = 0;        // used for decisions; counted where ReplicaSets do not report it
};
Counters CountersOf(const api::Json& status);
// The sums over all ReplicaSets. `terminating` is absent when it is not requested, and when a ReplicaSet with
// a status does not report it.
struct CountOptions {
  std::int64_t generation = 0;  // the Deployment's
  std::size_t new_index = 0;    // the ReplicaSet of the current template, or kNotThereYet
  bool terminating = false;
};
Counters Count(std::span<const FactsPtr> sets, const CountOptions& options);

// The status document. Zeroes are omitted, except for terminatingReplicas.
api::Json StatusOf(const Counters& counters, std::optional<std::int64_t> collision_count,
                   api::Json conditions);

// Whether all pods have the current template and are available, and no others exist; with
// waits_for_termination not even terminating ones.
bool IsComplete(const DeploymentSize& deployment, std::int64_t generation, const Counters& counters);
// Whether new pods were created or became ready or available, or old ones are gone. With
// waits_for_termination the end of a terminating pod counts as well.
bool HasProgressed(const DeploymentSize& deployment, const Counters& before, const Counters& now);

// The inputs of the Progressing condition.
struct Progress {
  const DeploymentSize& deployment;
  std::int64_t generation = 0;
  std::string name = {};                  // of the Deployment
  std::string new_set = {};               // of the ReplicaSet of the current template; empty: there is none
  std::optional<api::Duration> deadline;  // nullopt: progress is not judged
  const Counters& before;                 // as the status has them
  const Counters& now;
};
// Sets Available and Progressing in `conditions`.
void JudgeAvailability(const DeploymentSize& deployment, const Counters& counters, api::Time now,
                       api::Json& conditions);
void JudgeProgress(const Progress& progress, api::Time now, api::Json& conditions);
// When lack of progress becomes a failure; nullopt when it never does, or has done so.
std::optional<api::Time> FailsAt(const Progress& progress, const api::Json& conditions);

}  // namespace terrarium::controllers::deployment
