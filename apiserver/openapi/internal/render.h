#pragma once

// The finished documents.

#include <string>
#include <vector>

#include "api/json.h"
#include "apiserver/openapi/internal/operations.h"

namespace terrarium::apiserver::openapi {

// One document with everything, in OpenAPI 2.0.
api::Json RenderV2(const std::vector<PathItem>& paths, const ResourceTable& table);
// The paths of one v3 document, and the schemas they need, in OpenAPI 3.0.
api::Json RenderV3(const std::string& document, const std::vector<PathItem>& paths,
                   const ResourceTable& table);

// Parts that both versions share: the text of a success code, and {"title": ..., "version": ...}.
std::string CodeText(int code);
api::Json Info();

}  // namespace terrarium::apiserver::openapi
