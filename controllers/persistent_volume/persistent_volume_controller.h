#pragma once

// The volume binder (persistentvolume-binder-controller): binds claims to volumes, asks for the provisioning
// of volumes that are missing, and reclaims volumes whose claim is gone. Mirrors pkg/controller/volume/
// persistentvolume, v1.36.

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

std::unique_ptr<Controller> MakePersistentVolumeController(const ControllerContext& context);

}  // namespace terrarium::controllers
