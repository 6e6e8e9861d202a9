#pragma once

// What kube-controller-manager's volume plugins would do. No volume is real, so that deleting and recycling
// one takes no time.

#include <string>
#include <string_view>

#include "api/core_v1/volume_binding.h"
#include "api/json.h"

namespace terrarium::controllers::persistent_volume {

// The plugin of a volume's source: "kubernetes.io/nfs", "kubernetes.io/csi:DRIVER", ...; "N/A": none.
std::string PluginName(const api::Json& volume);

// Who provisions the volumes of a class.
struct Provisioner {
  std::string name;   // of the CSI driver that has replaced an in-tree plugin, if one has
  std::string error;  // why no volume can be provisioned; empty: an external provisioner does it
};
Provisioner ProvisionerOf(const api::Json& storage_class);

// How a released volume with the reclaim policy Delete is deleted.
struct Deletion {
  bool external = false;  // by its provisioner
  std::string plugin;     // else by this plugin
  std::string error;      // or not at all
};
Deletion DeletionOf(const api::Volume& volume);

// Whether a plugin can recycle the volume.
bool IsRecyclable(const api::Json& volume);

}  // namespace terrarium::controllers::persistent_volume
