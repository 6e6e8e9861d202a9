#pragma once

// How a pod is taken away. Pure.

#include <optional>

#include "api/base/clock.h"
#include "api/base/feature_gates.h"
#include "api/json.h"

namespace terrarium::controllers {

enum class RemovalReason { kTerminated, kOutOfService, kOrphaned, kUnscheduled };
// The label `reason` of the metrics.
const char* TextOf(RemovalReason reason);

// The patch of the status by which the pod ends before it is deleted; nullopt: it has ended, or no gate asks
// for it.
std::optional<api::Json> FailurePatch(const api::Json& pod, RemovalReason reason,
                                      const api::FeatureGates& gates, api::Time now);

// Already deleted with grace 0 and ended: only finalizers hold it, and nothing is left to do.
bool HeldByFinalizersOnly(const api::Json& pod);

}  // namespace terrarium::controllers
