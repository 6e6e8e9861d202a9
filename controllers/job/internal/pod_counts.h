#pragma once

// How the pods of a Job are counted: active, ready, terminating, and which have newly succeeded or failed. Pure.
// Mirrors isPodFailed, getNewFinishedPods and manageJob of pkg/controller/job/job_controller.go, v1.36.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "api/base/feature_gates.h"
#include "api/json.h"
#include "controllers/job/internal/pod_facts.h"

namespace terrarium::controllers::job {

// What a Job's spec and the controller's gates make of its pods.
struct CountingRules {
  // A pod is replaced, and has failed, only when its phase is Failed; otherwise also as soon as it is being deleted.
  bool only_replace_failed = false;
  // status.terminating is written; otherwise it is taken away.
  bool reports_terminating = true;
  // The terminal condition comes only once no pod is terminating, after FailureTarget or SuccessCriteriaMet.
  bool delays_terminal_condition = true;
  // spec.completions of an indexed Job: pods of other indexes are not counted. nullopt: not indexed.
  std::optional<int> index_end;
};
// Gate JobPodReplacementPolicy off: as if the policy were TerminatingOrFailed, unless there is a podFailurePolicy,
// which can look only at pods that have ended. The gate JobManagedBy also delays terminal conditions.
CountingRules CountingRulesOf(const api::Json& job_spec, const api::FeatureGates& gates);

// True when the pod is to be counted as failed, and replaced.
bool IsPodFailed(const PodFacts& pod, const CountingRules& rules);

using UidSet = std::set<std::string, std::less<>>;

// Pods whose fate is written down already though their finalizer may still be seen.
struct Uncounted {
  UidSet succeeded;           // status.uncountedTerminatedPods
  UidSet failed;              // the same
  UidSet finalizer_removals;  // asked for and not yet seen
};

// The pod's index, if the Job has any, is one of the Job's.
bool HasValidIndex(const PodFacts& pod, const CountingRules& rules);
// It has a finalizer that nobody has asked to take off, and a valid index: what is to be said of it is still open.
bool IsUncounted(const PodFacts& pod, const CountingRules& rules, const Uncounted& uncounted);

enum class Finish { kNone, kSucceeded, kFailed };
// Whether the pod has ended and that is nowhere written down yet. A pod that was put down as failed while it was
// terminating stays so though it ends as Succeeded: it is not new.
// DIVERGES: Kubernetes counts such a pod as succeeded as well while its finalizer is still on.
Finish NewlyFinished(const PodFacts& pod, const CountingRules& rules, const Uncounted& uncounted);

// Running counts of a Job's pods: each version of a pod is added and taken away again. Whether they hold a finalizer
// does not matter here, as in Kubernetes.
class PodCounts {
 public:
  void Add(const PodFacts& pod) { Count(pod, 1); }
  void Remove(const PodFacts& pod) { Count(pod, -1); }

  int active() const { return active_; }
  int ready() const { return ready_; }  // of the active ones
  int terminating() const { return terminating_; }
  // Restarts of containers of pods that have not ended: what backoffLimit looks at with restartPolicy OnFailure.
  int restarts() const { return restarts_; }

 private:
  void Count(const PodFacts& pod, int sign);

  int active_ = 0;
  int ready_ = 0;
  int terminating_ = 0;
  int restarts_ = 0;
};

// With restartPolicy OnFailure containers restart in their pods, and that is limited too.
bool PastBackoffLimitByRestarts(int restarts, std::int32_t backoff_limit);

// How many pods there are to be.
struct Demand {
  std::optional<int> completions;  // nullopt: a work queue, which wants no more pods once one has succeeded
  int parallelism = 0;
  int succeeded = 0;  // of an indexed Job: indexes; counted or not
  int active = 0;
  int terminating = 0;
};
int WantedActive(const Demand& demand);
// More pods than wanted are active by this many; at least 0.
int PodsTooMany(const Demand& demand);
// Pods to create; at least 0. With only_replace_failed a terminating pod holds its place until it has ended.
int PodsMissing(const Demand& demand, const CountingRules& rules);

}  // namespace terrarium::controllers::job
