#pragma once

// The fake volume driver (terrarium-volume-driver): plays the external provisioner, resizer and deleter of
// every StorageClass. kube-controller-manager has no such controller; in a cluster these are the sidecars of
// a CSI driver.

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeVolumeDriver(const ControllerContext& context);

}  // namespace terrarium::controllers
