#include "controllers/persistent_volume/internal/claim_status.h"

#include "api/json_access.h"

namespace terrarium::controllers::persistent_volume {

using api::Json;

std::optional<Json> NextClaimStatus(const Json& claim, std::string_view phase, const Json* volume) {
  const Json& current = api::ObjectAt(claim, "status");
  const std::string_view before = api::StringAt(current, "phase");
  Json next = current;
  next["phase"] = phase;
  if (volume == nullptr) {
    for (const char* field : {"accessModes", "capacity", "currentVolumeAttributesClassName"})
      next.erase(field);
  } else {
    const Json& spec = api::ObjectAt(*volume, "spec");
    next["accessModes"] = api::ListAt(spec, "accessModes");
    if (before != phase) next["capacity"] = api::ObjectAt(spec, "capacity");
    if (before == "Pending" && phase == "Bound") {
      if (const Json* attributes = api::Find(spec, "volumeAttributesClassName"))
        next["currentVolumeAttributesClassName"] = *attributes;
      else
        next.erase("currentVolumeAttributesClassName");
    }
  }
  if (next == current) return std::nullopt;
  return next;
}

}  // namespace terrarium::controllers::persistent_volume
