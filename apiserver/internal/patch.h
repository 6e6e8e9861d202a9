#pragma once

#include "api/base/status.h"
#include "api/json.h"
#include "api/schema/schema.h"
#include "apiserver/internal/call.h"

namespace terrarium::apiserver {

enum class PatchType { kJson, kMerge, kStrategic };

struct PatchBody {
  PatchType type = PatchType::kMerge;
  Json body;
};

// The call's body as a patch; 415 for media types that are none, server-side apply included.
api::Result<PatchBody> ParsePatch(Call& call);
api::Result<Json> ApplyPatch(PatchBody patch, const api::Message& schema, Json document);

}  // namespace terrarium::apiserver
