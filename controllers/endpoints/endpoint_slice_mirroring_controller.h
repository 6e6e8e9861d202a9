#pragma once

// endpointslice-mirroring-controller: EndpointSlices that mirror the Endpoints of Services without a
// selector. Mirrors pkg/controller/endpointslicemirroring, v1.36.

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeEndpointSliceMirroringController(const ControllerContext& context);

}  // namespace terrarium::controllers
