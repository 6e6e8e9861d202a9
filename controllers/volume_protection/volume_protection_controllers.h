#pragma once

// Keep what is in use: a claim, a volume or a VolumeAttributesClass that is being deleted loses its finalizer
// when nothing uses it any more. Mirror pkg/controller/volume/{pvc,pv,vac}protection, v1.36.

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeClaimProtectionController(const ControllerContext& context);
std::unique_ptr<Controller> MakeVolumeProtectionController(const ControllerContext& context);
std::unique_ptr<Controller> MakeAttributesClassProtectionController(const ControllerContext& context);

}  // namespace terrarium::controllers
