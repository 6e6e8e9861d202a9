#pragma once

// How long a Job waits before it replaces pods that fail. Pure. Mirrors pkg/controller/job/backoff_utils.go, v1.36.

#include <map>
#include <optional>
#include <vector>

#include "api/base/clock.h"
#include "api/json.h"
#include "controllers/job/internal/pod_facts.h"

namespace terrarium::controllers::job {

inline constexpr api::Duration kBackoffFirst = std::chrono::seconds(10);  // doubles with each failure
inline constexpr api::Duration kBackoffMost = std::chrono::minutes(10);

// When the pod ended, or was told to: when its last container finished; else when it became not ready; else when its
// deletion began; else when it was created. So the wait begins with the end of a pod that has failed, and, where
// terminating pods count as failed, with the deletion of one that still runs.
api::Time FinishTimeOf(const api::Json& pod);

// The failures of a whole Job since its last success.
struct BackoffRecord {
  int failures = 0;
  std::optional<api::Time> last_failure;
  friend bool operator==(const BackoffRecord&, const BackoffRecord&) = default;
};
// What the record becomes with the pods that finished since (their finish times, in any order): a success forgets
// every failure that did not come after it.
BackoffRecord WithFinished(BackoffRecord record, std::vector<api::Time> succeeded, std::vector<api::Time> failed);

// How long no pod may be created yet; zero when it may.
api::Duration RemainingBackoff(const BackoffRecord& record, api::Time now);
// The same for one index of a Job with backoffLimitPerIndex; ignored failures count here as well. `kept`: the index's
// last failed pod (PodsKeptForTheirIndex), nullptr when it has none.
api::Duration RemainingIndexBackoff(const PodFacts* kept, api::Time now);

// Which of the pending indexes may run now. Where none may, how long it is until the first; otherwise zero.
struct IndexesReady {
  std::vector<int> indexes;
  api::Duration wait{};
};
IndexesReady IndexesPastBackoff(const std::vector<int>& pending, const std::map<int, const PodFacts*>& kept,
                                api::Time now);

}  // namespace terrarium::controllers::job
