#pragma once

// The admission plugins of Kubernetes that read other objects, as one chain in Kubernetes' order:
// LimitRanger, Priority, DefaultStorageClass, StorageObjectInUseProtection, PersistentVolumeClaimResize.
// ResourceQuota is the last plugin and writes; internal/quota.h has it. Plugins that
// read nothing but the pod itself (tolerations, the merging of label keys) are in its strategy.

#include "api/base/status.h"
#include "apiserver/internal/call.h"

namespace terrarium::apiserver {

// Changes a decoded, defaulted object before its strategy prepares it for creation. 403 if a plugin refuses
// it.
api::Result<void> AdmitNew(const Call& call, Json& object);
// Checks a valid object that is about to be created (`old` null) or to replace `old`. 403 if a plugin refuses
// it.
api::Result<void> CheckAdmission(const Call& call, const Json& object, const Json* old);

}  // namespace terrarium::apiserver
