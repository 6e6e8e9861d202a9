#include <algorithm>
#include <string_view>

#include "api/core_v1/volume_binding.h"
#include "api/json_access.h"
#include "api/storage_v1/storage_class.h"
#include "apiserver/admission/internal/plugins.h"

namespace terrarium::apiserver::admission {
namespace {

constexpr const char* kClaims = "persistentvolumeclaims";
constexpr const char* kClasses = "storageclasses";

std::string_view FinalizerOf(std::string_view resource) {
  if (resource == "persistentvolumes") return api::kVolumeProtection;
  if (resource == kClaims) return api::kClaimProtection;
  if (resource == "volumeattributesclasses") return api::kAttributesClassProtection;
  return {};
}

api::Quantity Requested(const Json& claim) {
  return api::StorageIn(api::ObjectAt(claim, "spec", "resources", "requests"));
}

bool ClassAllowsExpansion(const Call& call, const std::string& name) {
  const api::ObjectPtr storage_class = call.server.store.Get({kClasses, "", name});
  return storage_class != nullptr && api::BoolAt(*storage_class->Document(), "allowVolumeExpansion");
}

}  // namespace

api::Result<void> SetDefaultStorageClass(const Call& call, Json& object) {
  if (call.resource().storage != kClaims || api::ClassOfClaim(object)) return {};
  if (const api::ObjectPtr storage_class = api::DefaultClass(StoredObjects(call, kClasses, "")))
    object["spec"]["storageClassName"] = storage_class->name().name;
  return {};
}

api::Result<void> AddProtectionFinalizer(const Call& call, Json& object) {
  const std::string_view finalizer = FinalizerOf(call.resource().storage);
  if (finalizer.empty()) return {};
  const Json& present = api::ListAt(object, "metadata", "finalizers");
  if (std::find(present.begin(), present.end(), finalizer) != present.end()) return {};
  Json& finalizers = object["metadata"]["finalizers"];
  if (!finalizers.is_array()) finalizers = Json::array();
  finalizers.push_back(finalizer);
  return {};
}

api::Result<void> CheckClaimExpansion(const Call& call, const Json& object, const Json* old) {
  if (call.resource().storage != kClaims || old == nullptr) return {};
  if (Requested(object) <= Requested(*old)) return {};
  if (api::StringAt(*old, "status", "phase") != "Bound")
    return Refusal(call, object, "Only bound persistent volume claims can be expanded");
  const std::string name = api::ClassOfClaim(object).value_or("");
  if (name.empty() || name != api::ClassOfClaim(*old).value_or("") || !ClassAllowsExpansion(call, name))
    return Refusal(call, object,
                   "only dynamically provisioned pvc can be resized and the storageclass that provisions the "
                   "pvc must support resize");
  return {};
}

}  // namespace terrarium::apiserver::admission
