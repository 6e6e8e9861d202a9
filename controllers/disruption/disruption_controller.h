#pragma once

// The disruption controller (disruption-controller): maintains the status of PodDisruptionBudgets, which
// decides about evictions, and resets the DisruptionTarget condition of pods that were not deleted. Mirrors
// pkg/controller/disruption, v1.36.

#include <memory>

#include "controllers/controller.h"
#include "controllers/runtime/served_resource.h"

namespace terrarium::controllers {

// `resources`: used to find the controllers of pods and their scale.
std::unique_ptr<Controller> MakeDisruptionController(const ControllerContext& context,
                                                     ServedResources& resources);

}  // namespace terrarium::controllers
