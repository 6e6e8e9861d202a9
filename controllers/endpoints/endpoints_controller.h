#pragma once

// endpoints-controller: the Endpoints of Services with a selector. Mirrors pkg/controller/endpoint, v1.36.

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeEndpointsController(const ControllerContext& context);

}  // namespace terrarium::controllers
