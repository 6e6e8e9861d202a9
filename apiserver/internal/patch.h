#pragma once

#include "api/base/status.h"
#include "api/json.h"
#include "api/schema/schema.h"
#include "apiserver/internal/call.h"

namespace terrarium::apiserver {

enum class PatchType { kJson, kMerge, kStrategic, kApply };

// The type that the call has by its media type; 415 for every other one.
api::Result<PatchType> PatchTypeOf(const Call& call);

struct PatchBody {
  PatchType type = PatchType::kMerge;
  Json body;

  // Whether the patch may change or read metadata.managedFields.
  bool ConcernsOwners() const;
};

// Parses the call's body as a patch. REQUIRES: `type` is that of the call, and not kApply.
api::Result<PatchBody> ParsePatch(Call& call, PatchType type);
api::Result<Json> ApplyPatch(PatchBody patch, const api::Message& schema, Json document);

}  // namespace terrarium::apiserver
