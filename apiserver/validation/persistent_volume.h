#pragma once

// The specs of PersistentVolume and PersistentVolumeClaim.

#include "api/base/field_error.h"
#include "api/json.h"

namespace terrarium::apiserver {

// DIVERGES: of the volume sources, only hostPath, nfs, local and csi are checked inside; of the others it is
// only required that a volume has one source.
api::FieldErrors ValidatePersistentVolumeSpec(const api::Json& spec, const api::Path& path);
api::FieldErrors ValidatePersistentVolumeClaimSpec(const api::Json& spec, const api::Path& path);
// The members of a PersistentVolumeSpec that name a volume source, in the order in which Kubernetes checks
// them.
bool IsVolumeSourceMember(std::string_view member);

}  // namespace terrarium::apiserver
