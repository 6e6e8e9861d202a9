#pragma once

// Whether a Job has succeeded before all its indexes have. Pure. Mirrors
// pkg/controller/job/success_policy.go, v1.36.

#include <optional>
#include <string>

#include "api/json.h"
#include "controllers/job/internal/indexes.h"

namespace terrarium::controllers::job {

// The position of the first rule that is met. `policy`: spec.successPolicy, nullptr without one or with the
// gate JobSuccessPolicy off. A rule's succeededIndexes must all have succeeded, or succeededCount of them;
// without such indexes, succeededCount of any.
std::optional<int> MatchSuccessPolicy(const api::Json* policy, int completions, const IndexSet& succeeded);

// The message of the condition SuccessCriteriaMet: "Matched rules at index 0".
std::string SuccessPolicyMessage(int rule);

}  // namespace terrarium::controllers::job
