#pragma once

// The arithmetic of a PodDisruptionBudget and its status. Pure.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/json.h"
#include "controllers/disruption/internal/budget_index.h"

namespace terrarium::controllers::disruption {

// A pod whose eviction was allowed must be terminating after this time; otherwise it counts again.
inline constexpr api::Duration kDeletionTimeout = std::chrono::minutes(2);

// Whether the number of expected pods comes from their controllers instead of the existing pods.
bool NeedsScale(const api::Json& spec);

struct Expected {
  std::int64_t pods = 0;
  std::int64_t healthy = 0;
};
// `scale`: the sum of the controllers' replicas, used when NeedsScale(spec).
Expected ExpectedOf(const api::Json& spec, std::int64_t pods, std::int64_t scale);

// The evicted pods that have not been observed as terminating.
struct Disrupted {
  std::map<std::string, std::string> pods;  // name -> when, as in status.disruptedPods
  std::vector<std::string> not_deleted;     // overdue
  std::int64_t still_healthy = 0;  // of `pods`, those that would be counted as healthy but for the eviction
  std::optional<api::Time> next_expiry;
};
Disrupted DisruptedOf(const api::Json& status, const SelectedPods& pods, api::Time now);

// The new status, equal to the current one when nothing has changed.
api::Json NextStatus(const api::Json& budget, const Expected& expected, std::int64_t current_healthy,
                     const Disrupted& disrupted, api::Time now);
// The status of a budget that could not be computed: nothing may be disrupted.
api::Json FailedStatus(const api::Json& budget, const std::string& why, api::Time now);

}  // namespace terrarium::controllers::disruption
