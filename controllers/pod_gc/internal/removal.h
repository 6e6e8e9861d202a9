#pragma once

// How a pod is removed. Pure.

#include <optional>

#include "api/base/clock.h"
#include "api/base/feature_gates.h"
#include "api/json.h"

namespace terrarium::controllers {

enum class RemovalReason { kTerminated, kOutOfService, kOrphaned, kUnscheduled };
// The label `reason` of the metrics.
const char* TextOf(RemovalReason reason);

// The status patch that makes the pod Failed before it is deleted; nullopt: it has ended, or the gates are
// off.
std::optional<api::Json> FailurePatch(const api::Json& pod, RemovalReason reason,
                                      const api::FeatureGates& gates, api::Time now);

// Whether the pod has ended and is already deleted with grace period 0: only finalizers keep it.
bool HeldByFinalizersOnly(const api::Json& pod);

}  // namespace terrarium::controllers
