#pragma once

// The plugins of the chain. Each decides for itself which resources concern it.

#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "apiserver/internal/call.h"

namespace terrarium::apiserver::admission {

struct Plugin {
  std::string_view name;
  api::Result<void> (*admit)(const Call& call, Json& object);
  api::Result<void> (*check)(const Call& call, const Json& object, const Json* old);
};

// 403 with Kubernetes' words. An object without a name is named by its generateName.
api::Status Refusal(const Call& call, const Json& object, const std::string& why);
// The stored objects of a resource; empty without a search if there are none.
std::vector<api::ObjectPtr> StoredObjects(const Call& call, const char* resource, const std::string& ns);

// limit_ranger.cc: defaults of LimitRanges for new pods; their limits for pods and claims.
api::Result<void> SetContainerDefaults(const Call& call, Json& object);
api::Result<void> CheckLimitRanges(const Call& call, const Json& object, const Json* old);
// A pure function: why the LimitRange refuses a pod or a claim, or "".
std::string LimitRangeVerdict(const Json& limit_range, bool is_pod, const Json& object);
// A pure function: adds the LimitRange's defaults to the containers of a pod, and the annotation that lists
// them.
void ApplyLimitRangeDefaults(const Json& limit_range, Json& pod);

// service_account.cc: the account of new pods, the volume with its token, and the account's pull secrets.
api::Result<void> SetServiceAccount(const Call& call, Json& object);
api::Result<void> CheckServiceAccount(const Call& call, const Json& object, const Json* old);
// Pure functions. Adds the volume `name` and its mounts to a pod whose containers lack them; an existing
// kube-api-access volume is used instead.
void MountAccountToken(Json& spec, const std::string& name);
// Why the account, which enforces mountable secrets, does not allow the secrets of the pod, or "".
std::string MountableSecretsVerdict(const Json& account, const Json& spec);

// priority.cc: the priority of new pods; one global default among PriorityClasses.
api::Result<void> ResolvePriority(const Call& call, Json& object);
api::Result<void> CheckPriorityClass(const Call& call, const Json& object, const Json* old);

// storage.cc: the default class of claims that name none (DefaultStorageClass); finalizers of volumes, claims
// and VolumeAttributesClasses (StorageObjectInUseProtection); growing claims (PersistentVolumeClaimResize).
api::Result<void> SetDefaultStorageClass(const Call& call, Json& object);
api::Result<void> AddProtectionFinalizer(const Call& call, Json& object);
api::Result<void> CheckClaimExpansion(const Call& call, const Json& object, const Json* old);

}  // namespace terrarium::apiserver::admission
