#pragma once

// What the pods of a Job amount to in one look at it, and whether that is its end. Pure. Mirrors syncJob of
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

// Indexes as the status has them in text, read again only when the text is another one.
class CarriedIndexes {
 public:
  const IndexSet& Read(std::string_view text, int completions);

 private:
  std::string text_;
  int completions_ = 0;
  IndexSet indexes_;
};

// What outlives one look: nothing of it is needed after a restart.
struct Carried {
  BackoffRecord backoff;
  CarriedIndexes completed_indexes;
  CarriedIndexes failed_indexes;
};

struct Tally {
  std::vector<JobPodPtr> pods;  // by index, then by name
  PodCounts counts;
  Uncounted uncounted;
  // Counted and not yet counted ones together; failures that the policy ignores are not among them.
  int succeeded = 0;
  int failed = 0;
  IndexSet completed_before;  // as the status has it
  IndexSet completed_indexes;
  std::optional<IndexSet> failed_indexes;  // with backoffLimitPerIndex
  std::map<int, const PodFacts*> kept;     // PodsKeptForTheirIndex; in `pods`
  BackoffRecord backoff;                   // to be carried on once the pods are written down
};

// `pods`: those of the Job that are active, are terminating or have a finalizer. `finalizer_removals`: uids of those
// whose finalizer this controller has taken off without having seen that yet.
Tally TallyOf(const JobSpec& spec, const JobStatus& status, std::vector<JobPodPtr> pods, UidSet finalizer_removals,
              Carried& carried);

// The condition by which the Job ends, if it does: one that it has already (SuccessCriteriaMet; Failed for
// FailureTarget), or the one that comes first, failures before successes. Completions are not looked at here, since
// pods that are too many must go first.
std::optional<Condition> EndOf(const JobSpec& spec, const JobStatus& status, const Tally& tally, api::Time now);
// Enough pods have succeeded and none is active.
bool IsComplete(const JobSpec& spec, int succeeded, int active);
Condition CompletionsReached(const JobSpec& spec);

// How long the Job may be active yet, at least zero; nullopt when there is no limit or it is not running.
std::optional<api::Duration> DeadlineLeft(const JobSpec& spec, const JobStatus& status, api::Time now);

}  // namespace terrarium::controllers::job
