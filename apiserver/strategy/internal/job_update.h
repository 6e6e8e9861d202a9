#pragma once

// Validation of changes of a Job's spec.

#include "api/base/feature_gates.h"
#include "api/base/field_error.h"
#include "api/json.h"
#include "apiserver/strategy.h"

namespace terrarium::apiserver::strategy {

// completions (in tandem with parallelism for Indexed Jobs), selector, template (scheduling directives and
// resources of a suspended Job may change), completionMode, podFailurePolicy, backoffLimitPerIndex,
// managedBy, successPolicy.
void ValidateJobSpecChanges(FieldErrors& errors, const Json& job, const Json& old,
                            const api::FeatureGates& gates);

}  // namespace terrarium::apiserver::strategy
