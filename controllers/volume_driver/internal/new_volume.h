#pragma once

// The volume that the driver creates for a claim.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/core_v1/volume_binding.h"
#include "api/json.h"
#include "api/object.h"

namespace terrarium::controllers::volume_driver {

inline constexpr std::string_view kDriverFinalizer = "external-provisioner.volume.kubernetes.io/finalizer";

// Unique, and the same for each attempt.
std::string VolumeNameFor(const api::VolumeClaim& claim);

// The NodeSelector of the nodes that the volume can be used on; nullopt: all. `node`: the selected one, or
// nullptr. `nodes`: of the cluster, read only if the class has the parameter terrarium.dev/topology and no
// node was selected. Fails when the node lacks the label.
api::Result<std::optional<api::Json>> TopologyOf(const api::Json& storage_class,
                                                 const api::VolumeClaim& claim, const api::ObjectHeader* node,
                                                 const std::vector<api::ObjectPtr>& nodes);

// A CSI volume, or a hostPath if the provisioner's name is not that of a CSI driver.
api::Json NewVolume(const api::VolumeClaim& claim, const api::Json& storage_class,
                    std::optional<api::Json> node_selector);

}  // namespace terrarium::controllers::volume_driver
