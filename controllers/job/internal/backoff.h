#pragma once

// How long a Job waits before it replaces failed pods. Pure. Mirrors pkg/controller/job/backoff_utils.go,
// v1.36.

#include <map>
#include <optional>
#include <vector>

#include "api/base/clock.h"
#include "api/json.h"
#include "controllers/job/internal/pod_facts.h"

namespace terrarium::controllers::job {

inline constexpr api::Duration kBackoffFirst = std::chrono::seconds(10);  // doubles with each failure
inline constexpr api::Duration kBackoffMost = std::chrono::minutes(10);

// When the pod finished or its end was requested: when its last container finished; else when it became not
// ready; else when its deletion began; else when it was created. So the backoff of a failed pod starts with
// its end, and the backoff of a terminating pod that counts as failed starts with its deletion.
api::Time FinishTimeOf(const api::Json& pod);

// The failures of a whole Job since its last success.
struct BackoffRecord {
  int failures = 0;
  std::optional<api::Time> last_failure;
  friend bool operator==(const BackoffRecord&, const BackoffRecord&) = default;
};
// The record after the pods that finished since (their finish times, in any order). A success clears every
// failure that is not later than it.
BackoffRecord WithFinished(BackoffRecord record, std::vector<api::Time> succeeded,
                           std::vector<api::Time> failed);

// How long pod creation must still wait; zero when it may proceed.
api::Duration RemainingBackoff(const BackoffRecord& record, api::Time now);
// The same for one index of a Job with backoffLimitPerIndex; ignored failures count too. `kept`: the index's
// last failed pod (PodsKeptForTheirIndex), nullptr when it has none.
api::Duration RemainingIndexBackoff(const PodFacts* kept, api::Time now);

// The pending indexes that may run now. When there is none, `wait` is the time until the first may run;
// otherwise it is zero.
struct IndexesReady {
  std::vector<int> indexes;
  api::Duration wait{};
};
IndexesReady IndexesPastBackoff(const std::vector<int>& pending, const std::map<int, const PodFacts*>& kept,
                                api::Time now);

}  // namespace terrarium::controllers::job
