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

// Parses the call's body as a patch. 415 for every media type that is not one of the three patch types,
// including server-side apply.
api::Result<PatchBody> ParsePatch(Call& call);
api::Result<Json> ApplyPatch(PatchBody patch, const api::Message& schema, Json document);

}  // namespace terrarium::apiserver
