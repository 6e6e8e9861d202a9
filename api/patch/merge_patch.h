#pragma once

// JSON merge patch (RFC 7386): null removes, objects merge, everything else replaces.

#include "api/base/status.h"
#include "api/json.h"

namespace terrarium::api {

// The patched document, or 400 when `patch` is not an object. REQUIRES: `document` is an object.
Result<Json> ApplyMergePatch(Json document, Json patch);

}  // namespace terrarium::api
