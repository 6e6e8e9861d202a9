#pragma once

// Scales workloads by the usage of their pods. See docs/autoscaling.md.

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

class ServedResources;

// `resources` outlives it.
std::unique_ptr<Controller> MakeHorizontalPodAutoscalerController(const ControllerContext& context,
                                                                  ServedResources& resources);

}  // namespace terrarium::controllers
