#pragma once

// How the pods of a Job are counted: active, ready, terminating, and which have newly succeeded or failed.
// Pure. Mirrors isPodFailed, getNewFinishedPods and manageJob of pkg/controller/job/job_controller.go, v1.36.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "api/base/feature_gates.h"
#include "api/json.h"
#include "controllers/job/internal/pod_facts.h"

namespace terrarium::controllers::job {

// How the Job's spec and the feature gates make the controller count pods.
struct CountingRules {
  // A pod counts as failed, and is replaced, only in the phase Failed; otherwise also as soon as it is being
  // deleted.
  bool only_replace_failed = false;
  // status.terminating is written; otherwise it is removed.
  bool reports_terminating = true;
  // The terminal condition is set only when no pod is terminating, after FailureTarget or SuccessCriteriaMet.
  bool delays_terminal_condition = true;
  // spec.completions of an indexed Job: pods of other indexes are not counted. nullopt: not indexed.
  std::optional<int> index_end;
};
// With the gate JobPodReplacementPolicy off the policy is TerminatingOrFailed, unless there is a
// podFailurePolicy, which can only evaluate pods that have finished. The gate JobManagedBy also delays
// terminal conditions.
CountingRules CountingRulesOf(const api::Json& job_spec, const api::FeatureGates& gates);

// True when the pod counts as failed and is to be replaced.
bool IsPodFailed(const PodFacts& pod, const CountingRules& rules);

using UidSet = std::set<std::string, std::less<>>;

// Pods whose outcome is recorded already though their finalizer may still be in view.
struct Uncounted {
  UidSet succeeded;           // status.uncountedTerminatedPods
  UidSet failed;              // the same
  UidSet finalizer_removals;  // requested and not yet observed
};

// True when the Job is not indexed, or the pod's index is below completions.
bool HasValidIndex(const PodFacts& pod, const CountingRules& rules);
// The pod has a valid index, and a finalizer whose removal has not been requested: it still has to be
// counted.
bool IsUncounted(const PodFacts& pod, const CountingRules& rules, const Uncounted& uncounted);

enum class Finish { kNone, kSucceeded, kFailed };
// Whether the pod has finished and its outcome is not recorded yet. A pod that was recorded as failed while
// it was terminating stays failed even if it ends as Succeeded. DIVERGES: Kubernetes also counts such a pod
// as succeeded while its finalizer is still on.
Finish NewlyFinished(const PodFacts& pod, const CountingRules& rules, const Uncounted& uncounted);

// Running counts of a Job's pods: each version of a pod is added and later removed. Pods count with and
// without a finalizer, as in Kubernetes.
class PodCounts {
 public:
  void Add(const PodFacts& pod) { Count(pod, 1); }
  void Remove(const PodFacts& pod) { Count(pod, -1); }

  int active() const { return active_; }
  int ready() const { return ready_; }  // of the active ones
  int terminating() const { return terminating_; }
  // Container restarts of pods that have not finished: backoffLimit counts them with restartPolicy OnFailure.
  int restarts() const { return restarts_; }

 private:
  void Count(const PodFacts& pod, int sign);

  int active_ = 0;
  int ready_ = 0;
  int terminating_ = 0;
  int restarts_ = 0;
};

// With restartPolicy OnFailure containers restart in place, and backoffLimit limits these restarts too.
bool PastBackoffLimitByRestarts(int restarts, std::int32_t backoff_limit);

// The inputs that decide how many pods a Job wants.
struct Demand {
  std::optional<int> completions;  // nullopt: a work queue, which needs no new pods once one has succeeded
  int parallelism = 0;
  int succeeded = 0;  // indexes for an indexed Job; counted or not
  int active = 0;
  int terminating = 0;
};
int WantedActive(const Demand& demand);
// The number of active pods beyond the wanted ones; at least 0.
int PodsTooMany(const Demand& demand);
// The number of pods to create; at least 0. With only_replace_failed a terminating pod is not replaced before
// it has finished.
int PodsMissing(const Demand& demand, const CountingRules& rules);

}  // namespace terrarium::controllers::job
