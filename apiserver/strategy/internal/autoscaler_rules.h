#pragma once

// The rules for target, metrics and behavior of a HorizontalPodAutoscaler.

#include "api/base/field_error.h"
#include "api/json.h"

namespace terrarium::apiserver::strategy {

using api::FieldErrors;
using api::Json;

// `old` is the spec that an update replaces; nullptr on create.
void CheckAutoscalerSpec(const Json& spec, const Json* old, FieldErrors& errors);

}  // namespace terrarium::apiserver::strategy
