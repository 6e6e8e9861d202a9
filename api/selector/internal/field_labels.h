#pragma once

#include <string>
#include <string_view>

#include "api/base/status.h"
#include "api/selector/field_selector.h"

namespace terrarium::api::internal {

// The stored name of a field label that the kind accepts in selectors, or a 400 that refuses it by name. A
// kind without labels of its own here accepts those that its strategy declares.
Result<std::string> ConvertFieldLabel(const FieldSelectorScope& scope, std::string_view label);

}  // namespace terrarium::api::internal
