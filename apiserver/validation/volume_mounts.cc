// Where a container sees the pod's volumes.

#include "apiserver/validation/internal/pod_rules.h"

namespace terrarium::apiserver::pod_rules {
namespace {

// Name to path; the last of equal names counts.
std::map<std::string_view, std::string_view> PathsByName(const Json& list, std::string_view path_field) {
  std::map<std::string_view, std::string_view> out;
  for (const Json& item : list) out.insert_or_assign(StringAt(item, "name"), StringAt(item, path_field));
  return out;
}

std::set<std::string_view> PathsOf(const std::map<std::string_view, std::string_view>& by_name) {
  std::set<std::string_view> out;
  for (const auto& [name, path] : by_name) out.insert(path);
  return out;
}

void CheckPropagation(const Json& mount, const Json& container, const Path& path, FieldErrors& errors) {
  const Json* value = Find(mount, "mountPropagation");
  if (value == nullptr) return;
  const std::string_view propagation = TextOf(*value);
  const Path here = path.Child("mountPropagation");
  if (propagation != "Bidirectional" && propagation != "HostToContainer" && propagation != "None") {
    errors.push_back(api::NotSupportedError(here, propagation, {"Bidirectional", "HostToContainer", "None"}));
  }
  if (propagation == "Bidirectional" && !BoolAt(container, "securityContext", "privileged")) {
    errors.push_back(api::ForbiddenError(
        here, "Bidirectional mount propagation is available only to privileged containers"));
  }
}

void CheckRecursiveReadOnly(const Json& mount, const Path& path, FieldErrors& errors) {
  const Json* value = Find(mount, "recursiveReadOnly");
  if (value == nullptr || TextOf(*value) == "Disabled") return;
  const Path here = path.Child("recursiveReadOnly");
  if (TextOf(*value) != "Enabled" && TextOf(*value) != "IfPossible") {
    errors.push_back(api::NotSupportedError(here, *value, {"Disabled", "Enabled", "IfPossible"}));
    return;
  }
  if (!BoolAt(mount, "readOnly")) {
    errors.push_back(api::ForbiddenError(here, "may only be specified when readOnly is true"));
  }
  const std::string_view propagation = StringAt(mount, "mountPropagation");
  if (!propagation.empty() && propagation != "None") {
    errors.push_back(
        api::ForbiddenError(here, "may only be specified when mountPropagation is None or not specified"));
  }
}

void CheckSubPaths(const Json& mount, const Path& here, const Path& path, FieldErrors& errors) {
  const std::string_view sub = StringAt(mount, "subPath");
  const std::string_view expression = StringAt(mount, "subPathExpr");
  if (!sub.empty()) CheckLocalDescendingPath(sub, path.Child("subPath"), errors);
  if (expression.empty()) return;
  if (!sub.empty()) {
    errors.push_back(api::InvalidError(here.Child("subPathExpr"), expression,
                                       "subPathExpr and subPath are mutually exclusive"));
  }
  CheckLocalDescendingPath(expression, path.Child("subPathExpr"), errors);
}

}  // namespace

void CheckVolumeMounts(const Json& container, const PodScope& scope, const Path& path, FieldErrors& errors) {
  const Json& mounts = ListAt(container, "volumeMounts");
  if (mounts.empty()) return;
  const auto devices = PathsByName(ListAt(container, "volumeDevices"), "devicePath");
  const std::set<std::string_view> device_paths = PathsOf(devices);
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const Path here = path.Index(i);
    const std::string_view name = StringAt(mounts[i], "name");
    const std::string_view mount_path = StringAt(mounts[i], "mountPath");
    RequireText(mounts[i], "name", here, errors);
    if (!scope.volumes.contains(name)) errors.push_back(api::NotFoundFieldError(here.Child("name"), name));
    RequireText(mounts[i], "mountPath", here, errors);
    if (!seen.insert(mount_path).second) {
      errors.push_back(api::InvalidError(here.Child("mountPath"), mount_path, "must be unique"));
    }
    if (devices.contains(name)) {
      errors.push_back(
          api::InvalidError(here.Child("name"), name, "must not already exist in volumeDevices"));
    }
    if (device_paths.contains(mount_path)) {
      errors.push_back(api::InvalidError(here.Child("mountPath"), mount_path,
                                         "must not already exist as a path in volumeDevices"));
    }
    // These are reported on the list, without the index, as in Kubernetes.
    CheckSubPaths(mounts[i], here, path, errors);
    CheckPropagation(mounts[i], container, path, errors);
    CheckRecursiveReadOnly(mounts[i], path, errors);
  }
}

void CheckVolumeDevices(const Json& container, const PodScope& scope, const Path& path, FieldErrors& errors) {
  const Json& devices = ListAt(container, "volumeDevices");
  if (devices.empty()) return;
  const auto mounts = PathsByName(ListAt(container, "volumeMounts"), "mountPath");
  const std::set<std::string_view> mount_paths = PathsOf(mounts);
  std::set<std::string_view> names;
  std::set<std::string_view> paths;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Path here = path.Index(i);
    const std::string_view name = StringAt(devices[i], "name");
    const std::string_view device_path = StringAt(devices[i], "devicePath");
    const auto invalid_name = [&](std::string_view why) {
      errors.push_back(api::InvalidError(here.Child("name"), name, why));
    };
    const auto invalid_path = [&](std::string_view why) {
      errors.push_back(api::InvalidError(here.Child("devicePath"), device_path, why));
    };
    RequireText(devices[i], "name", here, errors);
    if (!name.empty() && !names.insert(name).second) invalid_name("must be unique");
    const auto volume = scope.volumes.find(name);
    if (volume == scope.volumes.end()) {
      errors.push_back(api::NotFoundFieldError(here.Child("name"), name));
    } else if (Find(*volume->second, "persistentVolumeClaim") == nullptr &&
               Find(*volume->second, "ephemeral") == nullptr) {
      invalid_name("can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode");
    }
    RequireText(devices[i], "devicePath", here, errors);
    if (paths.contains(device_path)) invalid_path("must be unique");
    FieldErrors backsteps;
    CheckNoBacksteps(device_path, here, backsteps);
    if (backsteps.empty()) {
      paths.insert(device_path);
    } else {
      invalid_path("can not contain backsteps ('..')");
    }
    if (mounts.contains(name)) invalid_name("must not already exist in volumeMounts");
    if (mount_paths.contains(device_path)) invalid_path("must not already exist as a path in volumeMounts");
  }
}

}  // namespace terrarium::apiserver::pod_rules
