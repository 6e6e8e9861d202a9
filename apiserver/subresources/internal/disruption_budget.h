#pragma once

// The arithmetic of PodDisruptionBudgets at eviction. Pure.

#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/base/status.h"
#include "api/json.h"

namespace terrarium::apiserver {

// Pods that have ended or are being deleted: they cannot become healthy again.
bool IsGoneForBudgets(const api::Json& pod);
// The same, or a pod that never ran: its eviction disrupts nothing.
bool NeedsNoBudget(const api::Json& pod);
// Whether the budget's unhealthyPodEvictionPolicy allows to evict a pod that is not ready without using the
// budget.
bool AllowsUnhealthy(const api::Json& budget, const api::Json& pod);
// 429: the budget's controller has not caught up, or the pod changed during the check.
api::Status BudgetIsBehind(const std::string& budget);
// The budget with one disruption taken for `pod`, or 429.
api::Result<api::Json> TakeDisruption(const api::Json& budget, std::string_view pod, api::Time now);

}  // namespace terrarium::apiserver
