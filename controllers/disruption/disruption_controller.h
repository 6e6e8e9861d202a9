#pragma once

// The disruption controller (disruption-controller): keeps the status of PodDisruptionBudgets, by which
// evictions are allowed or refused, and takes back the announcement of a disruption that did not come.
// Mirrors pkg/controller/disruption, v1.36.

#include <memory>

#include "controllers/controller.h"
#include "controllers/runtime/served_resource.h"

namespace terrarium::controllers {

// `resources`: where the controllers of pods are found, and whether they have a scale.
std::unique_ptr<Controller> MakeDisruptionController(const ControllerContext& context,
                                                     ServedResources& resources);

}  // namespace terrarium::controllers
