#pragma once

#include <string_view>

namespace terrarium::api::gate {
inline constexpr std::string_view kHpaConfigurableTolerance = "HPAConfigurableTolerance";
inline constexpr std::string_view kHpaScaleToZero = "HPAScaleToZero";
}  // namespace terrarium::api::gate
