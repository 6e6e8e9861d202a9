#pragma once

// The rules of a Service's spec (mirrors pkg/apis/core/validation of Kubernetes 1.36).

#include "api/base/field_error.h"
#include "api/json.h"
#include "apiserver/strategy.h"

namespace terrarium::apiserver::strategy {

// Everything but metadata. `old` is the Service that an update replaces, or null.
FieldErrors ValidateServiceSpec(const Json& service, const Json* old);
// Immutable fields.
FieldErrors ValidateServiceChanges(const Json& service, const Json& old);
FieldErrors ValidateServiceStatus(const Json& service, const Json& old);

}  // namespace terrarium::apiserver::strategy
