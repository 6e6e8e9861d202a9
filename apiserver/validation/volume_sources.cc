// What each kind of volume needs, those in use today; the discontinued ones are in old_volume_sources.cc.

#include <algorithm>

#include "apiserver/validation/internal/pod_rules.h"

namespace terrarium::apiserver::pod_rules {
namespace {

void CheckItems(const Json& source, const Path& path, FieldErrors& errors) {
  const Json& items = ListAt(source, "items");
  for (std::size_t i = 0; i < items.size(); ++i)
    CheckKeyToPath(items[i], path.Child("items").Index(i), errors);
}

void CheckEmptyDir(const Json& source, const Path& path, FieldErrors& errors) {
  const Json* limit = Find(source, "sizeLimit");
  if (limit != nullptr && QuantityOf(*limit).Sign() < 0) {
    errors.push_back(
        api::ForbiddenError(path.Child("sizeLimit"), "SizeLimit field must be a valid resource quantity"));
  }
}

void CheckDownwardApi(const Json& source, const Path& path, FieldErrors& errors) {
  CheckFileMode(source, "defaultMode", path, errors);
  for (const Json& file : ListAt(source, "items")) CheckDownwardFile(file, path, errors);
}

void CheckCsi(const Json& source, const Path& path, FieldErrors& errors) {
  const std::string_view driver = StringAt(source, "driver");
  if (RequireText(source, "driver", path, errors)) {
    if (driver.size() > 63) errors.push_back(api::TooLongError(path.Child("driver"), 63));
    AddInvalid(IsDns1123Subdomain(AsciiLower(driver)), driver, path.Child("driver"), errors);
  }
  const Json* secret = Find(source, "nodePublishSecretRef");
  if (secret == nullptr) return;
  const std::string_view name = StringAt(*secret, "name");
  if (name.empty()) {
    errors.push_back(api::RequiredError(path.Child("nodePublishSecretRef", "name")));
  } else {
    CheckSubdomain(name, path.Child("name"), errors);
  }
}

void CheckEphemeral(const Json& source, const Path& path, FieldErrors& errors) {
  const Json* claim = Find(source, "volumeClaimTemplate");
  if (claim == nullptr) {
    errors.push_back(api::RequiredError(path.Child("volumeClaimTemplate")));
  } else {
    Append(errors, ValidatePersistentVolumeClaimTemplate(*claim, path.Child("volumeClaimTemplate")));
  }
}

void CheckImage(const Json& source, const PodScope& scope, const Path& path, FieldErrors& errors) {
  if (scope.options.resource_is_pod) RequireText(source, "reference", path, errors);
  CheckPullPolicy(StringAt(source, "pullPolicy"), path.Child("pullPolicy"), errors);
}

}  // namespace

void CheckHostPath(const Json& source, const Path& path, FieldErrors& errors) {
  static const std::vector<std::string_view> kTypes = {
      "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"};
  if (!RequireText(source, "path", path, errors)) return;
  CheckNoBacksteps(StringAt(source, "path"), path.Child("path"), errors);
  const std::string_view type = StringAt(source, "type");
  if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end()) {
    errors.push_back(api::NotSupportedError(path.Child("type"), type, kTypes));
  }
}

void CheckNfs(const Json& source, const Path& path, FieldErrors& errors) {
  RequireText(source, "server", path, errors);
  RequireText(source, "path", path, errors);
  if (!StringAt(source, "path").starts_with("/")) {
    errors.push_back(
        api::InvalidError(path.Child("path"), StringAt(source, "path"), "must be an absolute path"));
  }
}

void CheckFileMode(const Json& object, std::string_view field, const Path& path, FieldErrors& errors) {
  const std::int64_t mode = IntAt(object, 0, field);
  if (mode >= 0 && mode <= 0777) return;
  errors.push_back(api::InvalidError(path.Child(field), mode,
                                     "must be a number between 0 and 0777 (octal), both inclusive"));
}

void CheckKeyToPath(const Json& item, const Path& path, FieldErrors& errors) {
  RequireText(item, "key", path, errors);
  RequireText(item, "path", path, errors);
  CheckLocalNonReservedPath(StringAt(item, "path"), path.Child("path"), errors);
  CheckFileMode(item, "mode", path, errors);
}

void CheckDownwardFile(const Json& file, const Path& path, FieldErrors& errors) {
  static const std::vector<std::string_view> kFields = {
      "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"};
  RequireText(file, "path", path, errors);
  CheckLocalNonReservedPath(StringAt(file, "path"), path.Child("path"), errors);
  const Json* field = Find(file, "fieldRef");
  const Json* resource = Find(file, "resourceFieldRef");
  if (field != nullptr) {
    CheckObjectFieldRef(*field, kFields, path.Child("fieldRef"), errors);
    if (resource != nullptr) {
      errors.push_back(api::InvalidError(
          path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"));
    }
  } else if (resource != nullptr) {
    CheckResourceFieldRef(*resource, true, path.Child("resourceFieldRef"), errors);
  } else {
    errors.push_back(api::RequiredError(path, "one of fieldRef and resourceFieldRef is required"));
  }
  CheckFileMode(file, "mode", path, errors);
}

void CheckVolumeSource(std::string_view name, const Json& source, const PodScope& scope, const Path& path,
                       FieldErrors& errors) {
  if (name == "emptyDir") {
    CheckEmptyDir(source, path, errors);
  } else if (name == "hostPath") {
    CheckHostPath(source, path, errors);
  } else if (name == "secret") {
    RequireText(source, "secretName", path, errors);
    CheckFileMode(source, "defaultMode", path, errors);
    CheckItems(source, path, errors);
  } else if (name == "configMap") {
    RequireText(source, "name", path, errors);
    CheckFileMode(source, "defaultMode", path, errors);
    CheckItems(source, path, errors);
  } else if (name == "nfs") {
    CheckNfs(source, path, errors);
  } else if (name == "persistentVolumeClaim") {
    RequireText(source, "claimName", path, errors);
  } else if (name == "downwardAPI") {
    CheckDownwardApi(source, path, errors);
  } else if (name == "projected") {
    CheckProjectedVolume(source, path, errors);
  } else if (name == "csi") {
    CheckCsi(source, path, errors);
  } else if (name == "ephemeral") {
    CheckEphemeral(source, path, errors);
  } else if (name == "image") {
    CheckImage(source, scope, path, errors);
  } else {
    CheckOldVolumeSource(name, source, path, errors);
  }
}

}  // namespace terrarium::apiserver::pod_rules
