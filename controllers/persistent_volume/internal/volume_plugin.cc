#include "controllers/persistent_volume/internal/volume_plugin.h"

#include <utility>

#include "api/json_access.h"

namespace terrarium::controllers::persistent_volume {
namespace {

using api::Json;

constexpr std::string_view kInTree = "kubernetes.io/";

// In-tree plugins that CSI drivers have replaced.
constexpr std::pair<std::string_view, std::string_view> kMigrated[] = {
    {"kubernetes.io/aws-ebs", "ebs.csi.aws.com"},
    {"kubernetes.io/azure-disk", "disk.csi.azure.com"},
    {"kubernetes.io/azure-file", "file.csi.azure.com"},
    {"kubernetes.io/cinder", "cinder.csi.openstack.org"},
    {"kubernetes.io/gce-pd", "pd.csi.storage.gke.io"},
    {"kubernetes.io/portworx-volume", "pxd.portworx.com"},
    {"kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"},
};

// Plugins by the member of a volume's spec.
constexpr std::pair<std::string_view, std::string_view> kSources[] = {
    {"csi", "kubernetes.io/csi"},     {"fc", "kubernetes.io/fc"},   {"hostPath", "kubernetes.io/host-path"},
    {"iscsi", "kubernetes.io/iscsi"}, {"nfs", "kubernetes.io/nfs"}, {"local", "kubernetes.io/local-volume"},
};

}  // namespace

std::string PluginName(const Json& volume) {
  for (const auto& [source, plugin] : kSources) {
    const Json* found = api::Find(volume, "spec", source);
    if (found == nullptr) continue;
    std::string name(plugin);
    if (source == "csi") name.append(":").append(api::StringAt(*found, "driver"));
    return name;
  }
  return "N/A";
}

Provisioner ProvisionerOf(const Json& storage_class) {
  const std::string_view name = api::StringAt(storage_class, "provisioner");
  for (const auto& [plugin, driver] : kMigrated)
    if (name == plugin) return {std::string(driver), ""};
  if (!name.starts_with(kInTree)) return {std::string(name), ""};
  return {std::string(name), "no volume plugin matched name: " + std::string(name)};
}

Deletion DeletionOf(const api::Volume& volume) {
  const std::string& provisioner = volume.provisioned_by;
  if (!provisioner.empty()) {
    if (!std::string_view(provisioner).starts_with(kInTree))
      return {.external = true, .plugin = {}, .error = {}};
    return {.external = false, .plugin = {}, .error = "no volume plugin matched name: " + provisioner};
  }
  const auto document = volume.object->Document();
  if (api::Find(*document, "spec", "csi") != nullptr) return {.external = true, .plugin = {}, .error = {}};
  const Json* host_path = api::Find(*document, "spec", "hostPath");
  if (host_path == nullptr)
    return {.external = false,
            .plugin = {},
            .error = "error getting deleter volume plugin for volume \"" + volume.name() +
                     "\": no deletable volume plugin matched"};
  const std::string_view path = api::StringAt(*host_path, "path");
  const std::size_t tmp = path.find("/tmp/");
  if (tmp != std::string_view::npos && tmp + 5 < path.size())
    return {.external = false, .plugin = "kubernetes.io/host-path", .error = {}};
  return {.external = false,
          .plugin = {},
          .error = "host_path deleter only supports /tmp/.+ but received provided " + std::string(path)};
}

bool IsRecyclable(const Json& volume) {
  return api::Find(volume, "spec", "hostPath") != nullptr || api::Find(volume, "spec", "nfs") != nullptr;
}

}  // namespace terrarium::controllers::persistent_volume
