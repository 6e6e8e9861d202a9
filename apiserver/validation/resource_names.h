#pragma once

#include <string_view>

#include "api/base/field_error.h"

namespace terrarium::apiserver {

// The name of a resource that a container may request.
void CheckContainerResourceName(std::string_view name, const api::Path& path, api::FieldErrors& errors);

}  // namespace terrarium::apiserver
