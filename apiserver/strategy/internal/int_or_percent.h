#pragma once

// The rules of fields that hold a count or a percentage ("25%"). Each takes null for an absent value.

#include <cstdint>

#include "api/base/field_error.h"
#include "api/json.h"
#include "apiserver/strategy.h"

namespace terrarium::apiserver::strategy {

// A number of at least 0 or a text like "25%".
void PositiveIntOrPercent(FieldErrors& errors, const Json* value, const api::Path& path);
// A percentage is at most 100%.
void AtMostAllPercent(FieldErrors& errors, const Json* value, const api::Path& path);
// The number, the number before the '%', or 0 for an absent or malformed value.
std::int64_t IntOrPercentValue(const Json* value);

}  // namespace terrarium::apiserver::strategy
