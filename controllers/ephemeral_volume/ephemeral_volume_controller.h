#pragma once

// The ephemeral volume controller (ephemeral-volume-controller): creates the claims of the generic ephemeral
// volumes of pods. Mirrors pkg/controller/volume/ephemeral, v1.36.

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeEphemeralVolumeController(const ControllerContext& context);

}  // namespace terrarium::controllers
