#pragma once

// spec.downscalePodPicker of Deployment and ReplicaSet (KEP-3189).

#include "api/base/field_error.h"
#include "api/json.h"
#include "apiserver/strategy.h"

namespace terrarium::apiserver::strategy {

// Appends the errors of spec.downscalePodPicker, if it is set. `path` names the spec.
void ValidateDownscalePodPicker(FieldErrors& errors, const Json& spec, const api::Path& path);

}  // namespace terrarium::apiserver::strategy
