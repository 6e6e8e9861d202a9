#pragma once

// endpointslice-controller: the EndpointSlices of Services with a selector. Mirrors
// pkg/controller/endpointslice and k8s.io/endpointslice, v1.36.

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeEndpointSliceController(const ControllerContext& context);

}  // namespace terrarium::controllers
