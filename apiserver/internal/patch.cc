#include "apiserver/internal/patch.h"

#include <string>
#include <string_view>
#include <utility>

#include "api/base/errors.h"
#include "api/codec/decode.h"
#include "api/json_access.h"
#include "api/patch/json_patch.h"
#include "api/patch/merge_patch.h"
#include "api/patch/strategic_merge.h"
#include "apiserver/internal/media_type.h"

namespace terrarium::apiserver {

using api::Json;
using api::Result;

namespace {

bool HasDirective(const Json& object) {
  for (auto it = object.begin(); it != object.end(); ++it)
    if (it.key().starts_with('$')) return true;
  return false;
}

// Of a path in a JSON patch.
bool CanReachOwners(std::string_view path) {
  return path.empty() || path == "/metadata" || path.starts_with("/metadata/managedFields");
}

}  // namespace

bool PatchBody::ConcernsOwners() const {
  if (type == PatchType::kJson) {
    if (!body.is_array()) return false;
    for (const Json& operation : body)
      for (const char* member : {"path", "from"})
        if (const Json* path = api::Find(operation, member); path != nullptr && path->is_string())
          if (CanReachOwners(path->get_ref<const std::string&>())) return true;
    return false;
  }
  const Json* metadata = api::Find(body, "metadata");
  if (body.is_object() && HasDirective(body)) return true;
  return metadata != nullptr && metadata->is_object() &&
         (metadata->contains("managedFields") || HasDirective(*metadata));
}

Result<PatchType> PatchTypeOf(const Call& call) {
  const std::string_view type = MediaTypeOf(call.request.content_type);
  if (type == "application/json-patch+json") return PatchType::kJson;
  if (type == "application/merge-patch+json") return PatchType::kMerge;
  if (type == "application/strategic-merge-patch+json") return PatchType::kStrategic;
  if (type == kApplyPatch) return PatchType::kApply;
  return api::UnsupportedPatchType();
}

Result<PatchBody> ParsePatch(Call& call, PatchType type) {
  PatchBody out;
  out.type = type;
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
    case PatchType::kApply: break;
  }
  return api::InternalError("unknown patch type");
}

}  // namespace terrarium::apiserver
