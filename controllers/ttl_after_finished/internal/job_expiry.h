#pragma once

#include <optional>

#include "api/base/clock.h"
#include "api/json.h"

namespace terrarium::controllers::ttl_after_finished {

// When the Job is to be deleted: ttlSecondsAfterFinished after it became Complete or Failed. nullopt while it
// has not finished, when it has no such time to live, and when it is being deleted already.
std::optional<api::Time> ExpiryOf(const api::Json& job);

}  // namespace terrarium::controllers::ttl_after_finished
