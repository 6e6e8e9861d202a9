#pragma once

// Decoding of request bodies in any media type to normalised documents.

#include <string>
#include <string_view>

#include "api/base/status.h"
#include "api/schema/schema.h"
#include "apiserver/internal/call.h"
#include "apiserver/internal/options.h"

namespace terrarium::apiserver {

// The kind that a body must have.
struct ExpectedKind {
  std::string_view group;
  std::string_view version;
  std::string_view kind;
  const api::Message& schema;
  std::string_view also_version = "";  // another version of the group with the same shape, accepted as well
};

// "v1" of the core group, otherwise "apps/v1".
std::string ApiVersionOf(std::string_view group, std::string_view version);
ExpectedKind BodyKindOf(const ResourceInfo& resource);
ExpectedKind BodyKindOf(const SubresourceInfo& subresource);

// Decodes the call's body, checks apiVersion and kind (absent ones are taken from the path), normalises.
// Unknown and duplicate fields are errors, warnings of the call, or ignored, depending on `validation`. The
// result is in stored form (events.k8s.io Events become core ones) and has no kind and apiVersion.
api::Result<Json> DecodeBody(Call& call, const ExpectedKind& expected, FieldValidation validation);
// The same for the result of a patch. Errors are 422 instead of 400, as in Kubernetes, and print the whole
// document.
api::Result<Json> DecodePatched(Call& call, Json document, const ExpectedKind& expected,
                                FieldValidation validation);
// DeleteOptions; null for a request without a body.
api::Result<Json> DecodeDeleteOptions(Call& call);

}  // namespace terrarium::apiserver
