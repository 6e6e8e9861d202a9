#include "apiserver/validation/persistent_volume.h"

#include <algorithm>
#include <iterator>

#include "apiserver/validation/internal/pod_rules.h"
#include "apiserver/validation/pod_template.h"

namespace terrarium::apiserver {

using namespace pod_rules;  // NOLINT: the helpers of this folder

namespace {

constexpr std::string_view kSources[] = {"hostPath",
                                         "gcePersistentDisk",
                                         "awsElasticBlockStore",
                                         "glusterfs",
                                         "flocker",
                                         "nfs",
                                         "rbd",
                                         "quobyte",
                                         "cephfs",
                                         "iscsi",
                                         "cinder",
                                         "fc",
                                         "flexVolume",
                                         "azureFile",
                                         "vsphereVolume",
                                         "photonPersistentDisk",
                                         "portworxVolume",
                                         "azureDisk",
                                         "scaleIO",
                                         "local",
                                         "storageos",
                                         "csi"};

void CheckCapacity(const Json& spec, const Path& path, FieldErrors& errors) {
  const Json& capacity = ObjectAt(spec, "capacity");
  if (capacity.empty()) errors.push_back(api::RequiredError(path));
  if (!capacity.contains("storage") || capacity.size() > 1)
    errors.push_back(api::NotSupportedError(path, capacity.empty() ? Json() : capacity, {"storage"}));
  for (const auto& [name, text] : capacity.items()) {
    const api::Quantity amount = QuantityOf(text);
    if (amount.Value() < 0)
      errors.push_back(
          api::InvalidError(path.Key(name), amount.Value(), "must be a valid resource quantity"));
    if (amount.Sign() <= 0)
      errors.push_back(api::InvalidError(path.Key(name), amount.ToString(), "must be greater than zero"));
  }
}

void CheckCsi(const Json& source, const Path& path, FieldErrors& errors) {
  const std::string_view driver = StringAt(source, "driver");
  if (driver.empty())
    errors.push_back(api::RequiredError(path.Child("driver")));
  else
    CheckSubdomain(driver, path.Child("driver"), errors);
  RequireText(source, "volumeHandle", path, errors);
}

// Returns whether the volume restricts its nodes.
bool CheckNodeAffinity(const Json& spec, const Path& path, FieldErrors& errors) {
  const Json* affinity = Find(spec, "nodeAffinity");
  if (affinity == nullptr) return false;
  if (const Json* required = Find(*affinity, "required"))
    Append(errors, ValidateNodeSelector(*required, path.Child("required")));
  else
    errors.push_back(api::RequiredError(path.Child("required"), "must specify required node constraints"));
  return true;
}

void CheckSource(std::string_view name, const Json& source, bool has_affinity, const Path& path,
                 FieldErrors& errors) {
  const Path here = path.Child(name);
  if (name == "hostPath") {
    CheckHostPath(source, here, errors);
  } else if (name == "nfs") {
    CheckNfs(source, here, errors);
  } else if (name == "local") {
    const std::string_view local_path = StringAt(source, "path");
    if (local_path.empty())
      errors.push_back(api::RequiredError(here.Child("path")));
    else
      CheckNoBacksteps(local_path, here.Child("path"), errors);
    if (!has_affinity)
      errors.push_back(api::RequiredError(path.Child("nodeAffinity"), "Local volume requires node affinity"));
  } else if (name == "csi") {
    CheckCsi(source, here, errors);
  }
}

void CheckSources(const Json& spec, bool has_affinity, const Path& path, FieldErrors& errors) {
  bool found = false;
  for (std::string_view name : kSources) {
    const Json* source = Find(spec, name);
    if (source == nullptr) continue;
    if (found && name != "flexVolume")
      errors.push_back(api::ForbiddenError(path.Child(name), "may not specify more than 1 volume type"));
    else
      CheckSource(name, *source, has_affinity, path, errors);
    found = true;
  }
  if (!found) errors.push_back(api::RequiredError(path, "must specify a volume type"));
}

void CheckVolumeMode(const Json& spec, const Path& path, FieldErrors& errors) {
  const Json* mode = Find(spec, "volumeMode");
  if (mode != nullptr && TextOf(*mode) != "Block" && TextOf(*mode) != "Filesystem")
    errors.push_back(api::NotSupportedError(path.Child("volumeMode"), *mode, {"Block", "Filesystem"}));
}

}  // namespace

bool IsVolumeSourceMember(std::string_view member) {
  return std::find(std::begin(kSources), std::end(kSources), member) != std::end(kSources);
}

FieldErrors ValidatePersistentVolumeSpec(const Json& spec, const Path& path) {
  FieldErrors errors;
  if (ListAt(spec, "accessModes").empty()) errors.push_back(api::RequiredError(path.Child("accessModes")));
  CheckAccessModes(spec, path, errors);
  CheckCapacity(spec, path.Child("capacity"), errors);
  const std::string_view reclaim = StringAt(spec, "persistentVolumeReclaimPolicy");
  if (!reclaim.empty() && reclaim != "Delete" && reclaim != "Recycle" && reclaim != "Retain")
    errors.push_back(api::NotSupportedError(path.Child("persistentVolumeReclaimPolicy"), reclaim,
                                            {"Delete", "Recycle", "Retain"}));
  const bool has_affinity = CheckNodeAffinity(spec, path.Child("nodeAffinity"), errors);
  CheckSources(spec, has_affinity, path, errors);
  if (StringAt(spec, "hostPath", "path") == "/" && reclaim == "Recycle")
    errors.push_back(api::ForbiddenError(path.Child("persistentVolumeReclaimPolicy"),
                                         "may not be 'recycle' for a hostPath mount of '/'"));
  if (const std::string_view name = StringAt(spec, "storageClassName"); !name.empty())
    CheckSubdomain(name, path.Child("storageClassName"), errors);
  CheckVolumeMode(spec, path, errors);
  if (const Json* attributes = Find(spec, "volumeAttributesClassName")) {
    const Path here = path.Child("volumeAttributesClassName");
    if (TextOf(*attributes).empty())
      errors.push_back(api::RequiredError(here, "an empty string is disallowed"));
    else
      CheckSubdomain(TextOf(*attributes), here, errors);
    if (Find(spec, "csi") == nullptr)
      errors.push_back(
          api::RequiredError(path.Child("csi"), "has to be specified when using volumeAttributesClassName"));
  }
  return errors;
}

}  // namespace terrarium::apiserver
