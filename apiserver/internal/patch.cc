#include "apiserver/internal/patch.h"

#include <string_view>
#include <utility>

#include "api/base/errors.h"
#include "api/codec/decode.h"
#include "api/patch/json_patch.h"
#include "api/patch/merge_patch.h"
#include "api/patch/strategic_merge.h"
#include "apiserver/internal/media_type.h"

namespace terrarium::apiserver {

using api::Json;
using api::Result;

Result<PatchBody> ParsePatch(Call& call) {
  std::string_view type = MediaTypeOf(call.request.content_type);
  PatchBody out;
  if (type == "application/json-patch+json")
    out.type = PatchType::kJson;
  else if (type == "application/merge-patch+json")
    out.type = PatchType::kMerge;
  else if (type == "application/strategic-merge-patch+json")
    out.type = PatchType::kStrategic;
  else
    return api::UnsupportedPatchType();
  if (call.document) {
    out.body = std::move(*call.document);
    return out;
  }
  api::Decoded decoded = api::DecodeJson(call.request.body);
  if (decoded.error) return api::BadRequest("error decoding patch: " + decoded.error->message);
  out.body = std::move(decoded.object);
  return out;
}

Result<Json> ApplyPatch(PatchBody patch, const api::Message& schema, Json document) {
  switch (patch.type) {
    case PatchType::kJson: return api::ApplyJsonPatch(std::move(document), patch.body);
    case PatchType::kMerge: return api::ApplyMergePatch(std::move(document), std::move(patch.body));
    case PatchType::kStrategic:
      return api::ApplyStrategicMergePatch(std::move(document), std::move(patch.body), schema);
  }
  return api::InternalError("unknown patch type");
}

}  // namespace terrarium::apiserver
