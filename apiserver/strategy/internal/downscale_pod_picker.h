#pragma once

// spec.downscalePodPicker of Deployment and ReplicaSet (KEP-3189).

#include "api/base/field_error.h"
#include "api/json.h"
#include "apiserver/strategy.h"

namespace terrarium::apiserver::strategy {

// Appends what is wrong with spec.downscalePodPicker; nothing when there is none. `path` names the spec.
void ValidateDownscalePodPicker(FieldErrors& errors, const Json& spec, const api::Path& path);

}  // namespace terrarium::apiserver::strategy
