#pragma once

#include <string>
#include <string_view>

#include "api/base/status.h"

namespace terrarium::api::internal {

// The stored name of a field label that the kind accepts in selectors, or a 400 that refuses it by name.
Result<std::string> ConvertFieldLabel(std::string_view group, std::string_view kind, std::string_view label);

}  // namespace terrarium::api::internal
