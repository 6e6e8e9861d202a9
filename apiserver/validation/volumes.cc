// spec.volumes: names, and exactly one source each.

#include <algorithm>
#include <array>

#include "apiserver/validation/internal/pod_rules.h"

namespace terrarium::apiserver::pod_rules {
namespace {

struct SourceName {
  std::string_view field;
  std::string_view path;          // where errors inside it are reported
  std::string_view surplus_path;  // where it is reported as one too many
};

// In the order in which Kubernetes looks at them: the first one found is the volume's source. Some paths
// differ from the field's name, as they do in Kubernetes.
constexpr std::array<SourceName, 30> kSources = {{
    {"emptyDir", "emptyDir", "emptyDir"},
    {"hostPath", "hostPath", "hostPath"},
    {"gitRepo", "gitRepo", "gitRepo"},
    {"gcePersistentDisk", "persistentDisk", "gcePersistentDisk"},
    {"awsElasticBlockStore", "awsElasticBlockStore", "awsElasticBlockStore"},
    {"secret", "secret", "secret"},
    {"nfs", "nfs", "nfs"},
    {"iscsi", "iscsi", "iscsi"},
    {"glusterfs", "glusterfs", "glusterfs"},
    {"flocker", "flocker", "flocker"},
    {"persistentVolumeClaim", "persistentVolumeClaim", "persistentVolumeClaim"},
    {"rbd", "rbd", "rbd"},
    {"cinder", "cinder", "cinder"},
    {"cephfs", "cephfs", "cephFS"},
    {"quobyte", "quobyte", "quobyte"},
    {"downwardAPI", "downwardAPI", "downwarAPI"},
    {"fc", "fc", "fc"},
    {"flexVolume", "flexVolume", "flexVolume"},
    {"configMap", "configMap", "configMap"},
    {"azureFile", "azureFile", "azureFile"},
    {"vsphereVolume", "vsphereVolume", "vsphereVolume"},
    {"photonPersistentDisk", "photonPersistentDisk", "photonPersistentDisk"},
    {"portworxVolume", "portworxVolume", "portworxVolume"},
    {"azureDisk", "azureDisk", "azureDisk"},
    {"storageos", "storageos", "storageos"},
    {"projected", "projected", "projected"},
    {"scaleIO", "scaleIO", "scaleIO"},
    {"csi", "csi", "csi"},
    {"ephemeral", "ephemeral", "ephemeral"},
    {"image", "image", "image"},
}};

// An ephemeral volume makes a claim named after the pod and the volume.
void CheckClaimName(std::string_view pod_name, std::string_view volume_name, const Path& path,
                    FieldErrors& errors) {
  if (pod_name.empty() || volume_name.empty()) return;
  const std::string claim = std::string(pod_name) + "-" + std::string(volume_name);
  for (const std::string& message : IsDns1123Subdomain(claim)) {
    errors.push_back(
        api::InvalidError(path.Child("name"), volume_name, "PVC name " + api::Quote(claim) + ": " + message));
  }
}

void CheckIscsiNameLength(const Json& iscsi, std::string_view volume_name, const Path& path,
                          FieldErrors& errors) {
  if (Find(iscsi, "initiatorName") == nullptr) return;
  if (volume_name.size() + 1 + StringAt(iscsi, "targetPortal").size() <= 64) return;
  errors.push_back(
      api::InvalidError(path.Child("name"), volume_name,
                        "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters "
                        "if iscsi.initiatorName is specified."));
}

void CheckSources(const Json& volume, const PodScope& scope, std::string_view pod_name, const Path& path,
                  FieldErrors& errors) {
  bool found = false;
  for (const SourceName& name : kSources) {
    const Json* source = Find(volume, name.field);
    if (source == nullptr) continue;
    if (found) {
      errors.push_back(
          api::ForbiddenError(path.Child(name.surplus_path), "may not specify more than 1 volume type"));
    } else {
      found = true;
      CheckVolumeSource(name.field, *source, scope, path.Child(name.path), errors);
      if (name.field == "ephemeral") CheckClaimName(pod_name, StringAt(volume, "name"), path, errors);
    }
    if (name.field == "iscsi") CheckIscsiNameLength(*source, StringAt(volume, "name"), path, errors);
  }
  if (!found) errors.push_back(api::RequiredError(path, "must specify a volume type"));
}

}  // namespace

void CheckVolumes(PodScope& scope, const Json& pod_metadata, const Path& path, FieldErrors& errors) {
  const Json& volumes = ListAt(scope.spec, "volumes");
  const std::string_view pod_name = StringAt(pod_metadata, "name");
  std::set<std::string> made_claims;
  for (const Json& volume : volumes) {
    if (pod_name.empty() || Find(volume, "ephemeral") == nullptr) continue;
    made_claims.insert(std::string(pod_name) + "-" + std::string(StringAt(volume, "name")));
  }
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const Json& volume = volumes[i];
    const Path here = path.Index(i);
    const std::string_view name = StringAt(volume, "name");
    FieldErrors found;
    CheckSources(volume, scope, pod_name, here, found);
    if (RequireText(volume, "name", here, found)) CheckDnsLabel(name, here.Child("name"), found);
    if (scope.volumes.contains(name)) found.push_back(api::DuplicateError(here.Child("name"), name));
    if (found.empty()) scope.volumes.emplace(name, &volume);
    Append(errors, std::move(found));
    const std::string_view claim = StringAt(volume, "persistentVolumeClaim", "claimName");
    if (!claim.empty() && made_claims.contains(std::string(claim))) {
      errors.push_back(
          api::InvalidError(here.Child("persistentVolumeClaim", "claimName"), claim,
                            "must not reference a PVC that gets created for an ephemeral volume"));
    }
  }
}

void CheckNoBacksteps(std::string_view text, const Path& path, FieldErrors& errors) {
  std::string_view rest = text;
  for (;;) {
    const std::size_t slash = rest.find('/');
    if (rest.substr(0, slash) == "..") {
      errors.push_back(api::InvalidError(path, text, "must not contain '..'"));
      return;
    }
    if (slash == std::string_view::npos) return;
    rest.remove_prefix(slash + 1);
  }
}

void CheckLocalDescendingPath(std::string_view text, const Path& path, FieldErrors& errors) {
  if (text.starts_with("/")) errors.push_back(api::InvalidError(path, text, "must be a relative path"));
  CheckNoBacksteps(text, path, errors);
}

void CheckLocalNonReservedPath(std::string_view text, const Path& path, FieldErrors& errors) {
  CheckLocalDescendingPath(text, path, errors);
  if (text.starts_with("..") && !text.starts_with("../")) {
    errors.push_back(api::InvalidError(path, text, "must not start with '..'"));
  }
}

}  // namespace terrarium::apiserver::pod_rules
