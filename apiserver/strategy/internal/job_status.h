#pragma once

// What a Job's status may say. Since spec.managedBy lets foreign controllers write it, the API holds them to
// what clients rely on: a finished Job stays finished, counters do not go back, conditions do not contradict
// each other.

#include <string_view>

#include "api/base/feature_gates.h"
#include "api/base/field_error.h"
#include "api/json.h"
#include "apiserver/strategy.h"

namespace terrarium::apiserver::strategy {

bool HasJobCondition(const Json& job, std::string_view type, std::string_view status);

// Rules apply only to what the update changes, so that a status which already breaks one can still be
// written.
void ValidateJobStatusUpdate(FieldErrors& errors, const Json& job, const Json& old,
                             const api::FeatureGates& gates);

}  // namespace terrarium::apiserver::strategy
