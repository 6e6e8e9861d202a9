#pragma once

#include "api/json.h"
#include "apiserver/strategy.h"

namespace terrarium::apiserver {

// What the finalize subresource checks in place of ValidateUpdate(). Its update may change spec.finalizers,
// which an ordinary update keeps as they were, and keeps the status.
FieldErrors ValidateNamespaceFinalize(const Json& object, const Json& old);

}  // namespace terrarium::apiserver
