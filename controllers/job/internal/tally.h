#pragma once

// The totals of a Job's pods in one sync, and whether the Job ends. Pure. Mirrors syncJob of
// pkg/controller/job/job_controller.go, v1.36.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "controllers/job/internal/backoff.h"
#include "controllers/job/internal/indexes.h"
#include "controllers/job/internal/job_pod.h"
#include "controllers/job/internal/job_spec.h"
#include "controllers/job/internal/job_status.h"
#include "controllers/job/internal/pod_counts.h"

namespace terrarium::controllers::job {

// Caches the parsed indexes of a status text, and parses again only when the text or completions changed.
class CarriedIndexes {
 public:
  const IndexSet& Read(std::string_view text, int completions);

 private:
  std::string text_;
  int completions_ = 0;
  IndexSet indexes_;
};

// State kept from one sync to the next. It need not survive a restart.
struct Carried {
  BackoffRecord backoff;
  CarriedIndexes completed_indexes;
  CarriedIndexes failed_indexes;
};

struct Tally {
  std::vector<JobPodPtr> pods;  // by index, then by name
  PodCounts counts;
  Uncounted uncounted;
  // Counted and uncounted pods together, without failures that the policy ignores.
  int succeeded = 0;
  int failed = 0;
  IndexSet completed_before;  // from the status
  IndexSet completed_indexes;
  std::optional<IndexSet> failed_indexes;  // with backoffLimitPerIndex
  std::map<int, const PodFacts*> kept;     // PodsKeptForTheirIndex; they point into `pods`
  BackoffRecord backoff;                   // to be stored in Carried once the status is written
};

// `pods`: the Job's pods that are active, are terminating or have a finalizer. `finalizer_removals`: uids of
// pods whose finalizer this controller has removed without having observed the removal.
Tally TallyOf(const JobSpec& spec, const JobStatus& status, std::vector<JobPodPtr> pods,
              UidSet finalizer_removals, Carried& carried);

// The condition by which the Job ends, if it does: the one that it has already (SuccessCriteriaMet; Failed
// for FailureTarget), or else the first that applies, failures before successes. Completions are not checked
// here, since surplus pods must be deleted first.
std::optional<Condition> EndOf(const JobSpec& spec, const JobStatus& status, const Tally& tally,
                               api::Time now);
// Enough pods have succeeded and none is active.
bool IsComplete(const JobSpec& spec, int succeeded, int active);
Condition CompletionsReached(const JobSpec& spec);

// The remaining active time, at least zero; nullopt: the Job has no deadline or is not running.
std::optional<api::Duration> DeadlineLeft(const JobSpec& spec, const JobStatus& status, api::Time now);

}  // namespace terrarium::controllers::job
