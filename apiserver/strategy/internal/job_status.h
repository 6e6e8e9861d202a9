#pragma once

// Validation of a Job's status. Since spec.managedBy lets other controllers write it, the API enforces what
// clients rely on: a finished Job stays finished, counters do not decrease, conditions do not contradict each
// other.

#include <string_view>

#include "api/base/feature_gates.h"
#include "api/base/field_error.h"
#include "api/json.h"
#include "apiserver/strategy.h"

namespace terrarium::apiserver::strategy {

bool HasJobCondition(const Json& job, std::string_view type, std::string_view status);

// Rules apply only to changed fields, so that a status that already violates one can still be updated.
void ValidateJobStatusUpdate(FieldErrors& errors, const Json& job, const Json& old,
                             const api::FeatureGates& gates);

}  // namespace terrarium::apiserver::strategy
