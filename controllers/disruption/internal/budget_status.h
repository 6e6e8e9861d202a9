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

// A pod that an eviction was allowed for is expected to be going after this long; otherwise it counts again.
inline constexpr api::Duration kDeletionTimeout = std::chrono::minutes(2);

// True when the number of expected pods is what their controllers want, not what there is.
bool NeedsScale(const api::Json& spec);

struct Expected {
  std::int64_t pods = 0;
  std::int64_t healthy = 0;
};
// `scale`: the sum of the controllers' replicas, used when NeedsScale(spec).
Expected ExpectedOf(const api::Json& spec, std::int64_t pods, std::int64_t scale);

// The evicted pods that have not been seen going yet.
struct Disrupted {
  std::map<std::string, std::string> pods;  // name -> when, as in status.disruptedPods
  std::vector<std::string> not_deleted;     // for which it has been too long
  std::int64_t still_healthy = 0;  // of `pods`, those that would be counted as healthy but for the eviction
  std::optional<api::Time> next_expiry;
};
Disrupted DisruptedOf(const api::Json& status, const SelectedPods& pods, api::Time now);

// The status that follows, equal to the budget's own when there is nothing new.
api::Json NextStatus(const api::Json& budget, const Expected& expected, std::int64_t current_healthy,
                     const Disrupted& disrupted, api::Time now);
// The status of a budget that could not be computed: nothing may be disrupted.
api::Json FailedStatus(const api::Json& budget, const std::string& why, api::Time now);

// A metav1.LabelSelector as Go prints it in the UnmanagedPods event.
std::string GoText(const api::Json* selector);

}  // namespace terrarium::controllers::disruption
