#pragma once

// The DaemonSet controller: one pod on each node that its template fits.

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeDaemonSetController(const ControllerContext& context);

}  // namespace terrarium::controllers
