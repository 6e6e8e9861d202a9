#pragma once

// Request bodies: any media type in, a normalised document out.

#include <string>
#include <string_view>

#include "api/base/status.h"
#include "api/schema/schema.h"
#include "apiserver/internal/call.h"
#include "apiserver/internal/options.h"

namespace terrarium::apiserver {

// The kind a body must be of.
struct ExpectedKind {
  std::string_view group;
  std::string_view version;
  std::string_view kind;
  const api::Message& schema;
  std::string_view also_version = "";  // another version of the group with the same shape, accepted as well
};

ExpectedKind BodyKindOf(const ResourceInfo& resource);
ExpectedKind BodyKindOf(const SubresourceInfo& subresource);

// Decodes the call's body, checks apiVersion and kind (absent ones are taken from the path), normalises.
// Unknown and duplicate fields are an error, warnings of the call, or ignored, as `validation` says. The
// result is in stored form (events.k8s.io Events become core ones) and has no kind and apiVersion.
api::Result<Json> DecodeBody(Call& call, const ExpectedKind& expected, FieldValidation validation);
// The same for the result of a patch. Kubernetes says 422 here, where a body gets 400, and prints the whole
// document.
api::Result<Json> DecodePatched(Call& call, Json document, const ExpectedKind& expected,
                                FieldValidation validation);
// DeleteOptions: null when there is no body.
api::Result<Json> DecodeDeleteOptions(Call& call);

}  // namespace terrarium::apiserver
