#pragma once

// OpenAPI 2.0 in protobuf: the message openapi.v2.Document of github.com/google/gnostic-models.

#include <string>

#include "api/json.h"

namespace terrarium::apiserver::openapi {

// REQUIRES: `document` has only the members that RenderV2() writes.
std::string EncodeV2(const api::Json& document);

}  // namespace terrarium::apiserver::openapi
