#pragma once

// How finished pods get into the counters exactly once, whatever write is the last before a crash. Pure. Mirrors
// trackJobStatusAndRemoveFinalizers of pkg/controller/job/job_controller.go, v1.36:
//
//   1. the pods' uids are written into status.uncountedTerminatedPods (succeeded indexes into completedIndexes)
//   2. their finalizers come off
//   3. those without a finalizer move from the uids into the counters
//
// A pod with a finalizer has never been counted. A uid in the status whose pod has none any more, or is gone, has ended
// and is not in the counters yet. So a controller that starts anywhere in between knows where it is.

#include <map>
#include <optional>
#include <vector>

#include "controllers/job/internal/failure_policy.h"
#include "controllers/job/internal/job_spec.h"
#include "controllers/job/internal/job_status.h"
#include "controllers/job/internal/pod_counts.h"
#include "controllers/job/internal/tally.h"

namespace terrarium::controllers::job {

// Uids in a status and finalizers taken off at a time, so that a status stays small and one Job does not keep the
// others waiting.
inline constexpr int kUncountedMax = 500;

struct Accounting {
  UidSet with_finalizer;                        // uids of the pods whose finalizer is on and not asked to come off
  std::vector<const PodFacts*> finalizers_off;  // step 2; in the tally's pods
  std::map<FailureAction, int> by_policy;       // pods whose failure a rule of the podFailurePolicy was for
  bool full = false;                            // there may be more of them than fit into one step
};

// Steps 3 (for what the last look left) and 1. `end`: the condition by which the Job ends, if it does; all its pods are
// then to be let go, and count as failed unless it has succeeded.
Accounting Account(const JobSpec& spec, const Tally& tally, const std::optional<Condition>& end, bool job_deleting,
                   JobStatus& status);

// Step 3.
void CountWithoutFinalizer(const UidSet& with_finalizer, JobStatus& status);

}  // namespace terrarium::controllers::job
