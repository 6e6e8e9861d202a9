#pragma once

// The quota controller (resourcequota-controller): maintains the status of ResourceQuotas: the apiserver
// charges new objects to it, and the controller releases the usage of deleted ones. Mirrors
// pkg/controller/resourcequota, v1.36.

#include <memory>

#include "controllers/controller.h"
#include "controllers/runtime/served_resource.h"

namespace terrarium::controllers {

// `resources`: what quotas can count; outlives the controller.
std::unique_ptr<Controller> MakeResourceQuotaController(const ControllerContext& context,
                                                        ServedResources& resources);

}  // namespace terrarium::controllers
