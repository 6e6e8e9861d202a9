// Volume sources of storage drivers that left Kubernetes or are about to: still part of the API and still
// checked.

#include <regex>

#include "apiserver/validation/internal/pod_rules.h"

namespace terrarium::apiserver::pod_rules {
namespace {

void CheckPartition(const Json& source, const Path& path, FieldErrors& errors) {
  const std::int64_t partition = IntAt(source, 0, "partition");
  // Zero means the whole disk, contrary to the message.
  if (partition < 0 || partition > 255) {
    errors.push_back(api::InvalidError(path.Child("partition"), partition, RangeMessage(1, 255)));
  }
}

bool HasIscsiPrefix(std::string_view name) {
  return name.starts_with("iqn") || name.starts_with("eui") || name.starts_with("naa");
}

// REQUIRES: HasIscsiPrefix(name).
bool IsIscsiName(std::string_view name) {
  static const std::regex kIqn(R"(iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)$)");
  static const std::regex kEui(R"(^eui.[A-Za-z0-9]{16}$)");
  static const std::regex kNaa(R"(^naa.[A-Za-z0-9]{32}$)");
  if (name.size() > 512)
    return false;  // far above what iSCSI allows (223), and what the matcher recurses into
  const std::regex& shape = name.starts_with("iqn") ? kIqn : name.starts_with("eui") ? kEui : kNaa;
  return std::regex_search(name.begin(), name.end(), shape);
}

void CheckIscsiName(std::string_view name, const Path& path, FieldErrors& errors) {
  if (!HasIscsiPrefix(name)) {
    errors.push_back(api::InvalidError(path, name, "must be valid format starting with iqn, eui, or naa"));
  } else if (!IsIscsiName(name)) {
    errors.push_back(api::InvalidError(path, name, "must be valid format"));
  }
}

void CheckLun(std::int64_t lun, const Path& path, FieldErrors& errors) {
  if (lun < 0 || lun > 255) errors.push_back(api::InvalidError(path.Child("lun"), lun, RangeMessage(0, 255)));
}

void CheckIscsi(const Json& source, const Path& path, FieldErrors& errors) {
  RequireText(source, "targetPortal", path, errors);
  if (RequireText(source, "iqn", path, errors))
    CheckIscsiName(StringAt(source, "iqn"), path.Child("iqn"), errors);
  CheckLun(IntAt(source, 0, "lun"), path, errors);
  const bool chap = BoolAt(source, "chapAuthDiscovery") || BoolAt(source, "chapAuthSession");
  if (chap && Find(source, "secretRef") == nullptr)
    errors.push_back(api::RequiredError(path.Child("secretRef")));
  if (Find(source, "initiatorName") != nullptr) {
    CheckIscsiName(StringAt(source, "initiatorName"), path.Child("initiatorname"), errors);
  }
}

void CheckFc(const Json& source, const Path& path, FieldErrors& errors) {
  const Json& targets = ListAt(source, "targetWWNs");
  const Json& wwids = ListAt(source, "wwids");
  if (targets.empty() && wwids.empty()) {
    errors.push_back(api::RequiredError(path.Child("targetWWNs"),
                                        "must specify either targetWWNs or wwids, but not both"));
  }
  if (!targets.empty() && !wwids.empty()) {
    errors.push_back(api::InvalidError(path.Child("targetWWNs"), targets,
                                       "targetWWNs and wwids can not be specified simultaneously"));
  }
  if (targets.empty()) return;
  if (Find(source, "lun") == nullptr) {
    errors.push_back(api::RequiredError(path.Child("lun"), "lun is required if targetWWNs is specified"));
  } else {
    CheckLun(IntAt(source, 0, "lun"), path, errors);
  }
}

bool IsHostPort(std::string_view text) {
  if (text.starts_with("[")) {
    const std::size_t end = text.find(']');
    return end != std::string_view::npos && text.substr(end + 1).starts_with(":") &&
           text.find(':', end + 2) == std::string_view::npos;
  }
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && text.find(':', colon + 1) == std::string_view::npos;
}

void CheckQuobyte(const Json& source, const Path& path, FieldErrors& errors) {
  constexpr std::string_view kPairs = "must be a host:port pair or multiple pairs separated by commas";
  std::string_view registry = StringAt(source, "registry");
  if (registry.empty()) {
    errors.push_back(api::RequiredError(path.Child("registry"), kPairs));
  } else if (StringAt(source, "tenant").size() >= 65) {
    errors.push_back(api::RequiredError(path.Child("tenant"),
                                        "must be a UUID and may not exceed a length of 64 characters"));
  } else {
    for (std::string_view rest = registry;;) {
      const std::size_t comma = rest.find(',');
      if (!IsHostPort(rest.substr(0, comma))) {
        errors.push_back(api::InvalidError(path.Child("registry"), registry, kPairs));
      }
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  RequireText(source, "volume", path, errors);
}

void CheckFlocker(const Json& source, const Path& path, FieldErrors& errors) {
  const std::string_view name = StringAt(source, "datasetName");
  const bool uuid = !StringAt(source, "datasetUUID").empty();
  if (name.empty() && !uuid) {
    errors.push_back(api::RequiredError(path, "one of datasetName and datasetUUID is required"));
  }
  if (!name.empty() && uuid) {
    errors.push_back(api::InvalidError(path, "resource",
                                       "datasetName and datasetUUID can not be specified simultaneously"));
  }
  if (name.find('/') != std::string_view::npos) {
    errors.push_back(api::InvalidError(path.Child("datasetName"), name, "must not contain '/'"));
  }
}

void CheckFlex(const Json& source, const Path& path, FieldErrors& errors) {
  RequireText(source, "driver", path, errors);
  for (const auto& [key, value] : ObjectAt(source, "options").items()) {
    const std::string domain = "." + AsciiLower(key.substr(0, key.find('/')));
    if (domain.ends_with(".kubernetes.io") || domain.ends_with(".k8s.io")) {
      errors.push_back(api::InvalidError(path.Child("options").Key(key), key,
                                         "kubernetes.io and k8s.io namespaces are reserved"));
    }
  }
}

void CheckAzureDisk(const Json& source, const Path& path, FieldErrors& errors) {
  const std::string_view uri = StringAt(source, "diskURI");
  const std::string_view caching = StringAt(source, "cachingMode");
  const std::string_view kind = StringAt(source, "kind");
  RequireText(source, "diskName", path, errors);
  RequireText(source, "diskURI", path, errors);
  if (caching != "None" && caching != "ReadOnly" && caching != "ReadWrite") {
    errors.push_back(
        api::NotSupportedError(path.Child("cachingMode"), caching, {"None", "ReadOnly", "ReadWrite"}));
  }
  if (kind != "Dedicated" && kind != "Managed" && kind != "Shared") {
    errors.push_back(api::NotSupportedError(path.Child("kind"), kind, {"Dedicated", "Managed", "Shared"}));
  }
  if (kind == "Managed" && !uri.starts_with("/subscriptions/")) {
    errors.push_back(api::NotSupportedError(
        path.Child("diskURI"), uri,
        {"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"}));
  }
  if (kind != "Managed" && !uri.starts_with("https://")) {
    errors.push_back(api::NotSupportedError(
        path.Child("diskURI"), uri,
        {"https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"}));
  }
}

void CheckStorageOs(const Json& source, const Path& path, FieldErrors& errors) {
  if (RequireText(source, "volumeName", path, errors)) {
    CheckDnsLabel(StringAt(source, "volumeName"), path.Child("volumeName"), errors);
  }
  const std::string_view ns = StringAt(source, "volumeNamespace");
  if (!ns.empty()) CheckDnsLabel(ns, path.Child("volumeNamespace"), errors);
}

// A secretRef, when there is one, has a name.
void CheckSecretRef(const Json& source, const Path& path, FieldErrors& errors) {
  const Json* secret = Find(source, "secretRef");
  if (secret != nullptr && StringAt(*secret, "name").empty()) {
    errors.push_back(api::RequiredError(path.Child("secretRef", "name")));
  }
}

// Sources that are fine once certain texts or lists are there.
struct RequiredFields {
  std::string_view source;
  std::vector<std::string_view> fields;
};

const std::vector<RequiredFields>& PlainSources() {
  static const std::vector<RequiredFields> kPlain = {
      {"gitRepo", {"repository"}},
      {"gcePersistentDisk", {"pdName"}},
      {"awsElasticBlockStore", {"volumeID"}},
      {"glusterfs", {"endpoints", "path"}},
      {"rbd", {"monitors", "image"}},
      {"cinder", {"volumeID"}},
      {"cephfs", {"monitors"}},
      {"azureFile", {"secretName", "shareName"}},
      {"vsphereVolume", {"volumePath"}},
      {"photonPersistentDisk", {"pdID"}},
      {"portworxVolume", {"volumeID"}},
      {"scaleIO", {"gateway", "system", "volumeName"}},
  };
  return kPlain;
}

}  // namespace

void CheckOldVolumeSource(std::string_view name, const Json& source, const Path& path, FieldErrors& errors) {
  for (const RequiredFields& plain : PlainSources()) {
    if (plain.source != name) continue;
    for (const std::string_view field : plain.fields) {
      if (StringAt(source, field).empty() && ListAt(source, field).empty()) {
        errors.push_back(api::RequiredError(path.Child(field)));
      }
    }
  }
  if (name == "gitRepo") {
    CheckLocalDescendingPath(StringAt(source, "directory"), path.Child("directory"), errors);
  } else if (name == "gcePersistentDisk" || name == "awsElasticBlockStore") {
    CheckPartition(source, path, errors);
  } else if (name == "cinder") {
    CheckSecretRef(source, path, errors);
  } else if (name == "iscsi") {
    CheckIscsi(source, path, errors);
  } else if (name == "fc") {
    CheckFc(source, path, errors);
  } else if (name == "quobyte") {
    CheckQuobyte(source, path, errors);
  } else if (name == "flocker") {
    CheckFlocker(source, path, errors);
  } else if (name == "flexVolume") {
    CheckFlex(source, path, errors);
  } else if (name == "azureDisk") {
    CheckAzureDisk(source, path, errors);
  } else if (name == "storageos") {
    CheckStorageOs(source, path, errors);
    CheckSecretRef(source, path, errors);
  }
}

}  // namespace terrarium::apiserver::pod_rules
