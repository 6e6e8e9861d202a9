#pragma once

// Fields that are a number or a percentage of another number, such as maxSurge and maxUnavailable.

#include <cstdint>

#include "api/json.h"

namespace terrarium::api {

enum class Rounding { kUp, kDown };

// The number, or that percentage of `total`. nullptr, and text that API validation rejects, count as 0.
std::int64_t ResolveIntOrPercent(const Json* int_or_percent, std::int64_t total, Rounding rounding);

}  // namespace terrarium::api
