#pragma once

// The quota controller (resourcequota-controller): keeps the status of ResourceQuotas, from which the
// apiserver takes what is created, and gives back what is no longer used. Mirrors
// pkg/controller/resourcequota, v1.36.

#include <memory>

#include "controllers/controller.h"
#include "controllers/runtime/served_resource.h"

namespace terrarium::controllers {

// `resources`: what quotas can count; outlives the controller.
std::unique_ptr<Controller> MakeResourceQuotaController(const ControllerContext& context,
                                                        ServedResources& resources);

}  // namespace terrarium::controllers
