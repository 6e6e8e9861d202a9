#pragma once

// The TTL-after-finished controller (ttl-after-finished-controller): deletes finished Jobs after their
// ttlSecondsAfterFinished. Mirrors pkg/controller/ttlafterfinished, v1.36.

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeTtlAfterFinishedController(const ControllerContext& context);

}  // namespace terrarium::controllers
