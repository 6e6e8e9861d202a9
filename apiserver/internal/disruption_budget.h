#pragma once

// The arithmetic of PodDisruptionBudgets at eviction. Pure.

#include <string_view>

#include "api/base/clock.h"
#include "api/base/status.h"
#include "api/json.h"

namespace terrarium::apiserver {

// Pods that have ended, are going already or never ran disrupt nothing.
bool NeedsNoBudget(const api::Json& pod);
// A pod that is not ready may go without using the budget up, as the budget's unhealthyPodEvictionPolicy says.
bool AllowsUnhealthy(const api::Json& budget, const api::Json& pod);
// The budget with one disruption taken for `pod`, or 429.
api::Result<api::Json> TakeDisruption(const api::Json& budget, std::string_view pod, api::Time now);

}  // namespace terrarium::apiserver
