#pragma once

// Counts each finished pod exactly once, whichever write is the last one before a crash. Pure. Mirrors
// trackJobStatusAndRemoveFinalizers of pkg/controller/job/job_controller.go, v1.36:
//
//   1. write the pods' uids into status.uncountedTerminatedPods (succeeded indexes into completedIndexes)
//   2. remove their finalizers
//   3. move the uids of pods without a finalizer into the counters
//
// A pod with a finalizer has never been counted. A uid in the status whose pod is gone, or has no finalizer
// any more, has finished and is not in the counters yet. A controller that restarts between two steps can
// therefore resume.

#include <map>
#include <optional>
#include <vector>

#include "controllers/job/internal/failure_policy.h"
#include "controllers/job/internal/job_spec.h"
#include "controllers/job/internal/job_status.h"
#include "controllers/job/internal/pod_counts.h"
#include "controllers/job/internal/tally.h"

namespace terrarium::controllers::job {

// The most uids in a status, and the most finalizers removed in one step. The limit keeps the status small,
// and keeps one Job from delaying the others.
inline constexpr int kUncountedMax = 500;

struct Accounting {
  UidSet with_finalizer;  // uids of the pods whose finalizer is on and whose removal has not been requested
  std::vector<const PodFacts*> finalizers_off;  // step 2; they point into the tally's pods
  std::map<FailureAction, int> by_policy;       // failed pods that a podFailurePolicy rule matched
  bool full = false;  // the limit was reached: there may be more pods for a further step
};

// Step 3 for the pods that the last sync left, then step 1. `end`: the condition by which the Job ends, if it
// does. Then all its pods lose their finalizers; unless the Job succeeds, the pods that have not succeeded
// count as failed.
Accounting Account(const JobSpec& spec, const Tally& tally, const std::optional<Condition>& end,
                   bool job_deleting, JobStatus& status);

// Step 3.
void CountWithoutFinalizer(const UidSet& with_finalizer, JobStatus& status);

}  // namespace terrarium::controllers::job
