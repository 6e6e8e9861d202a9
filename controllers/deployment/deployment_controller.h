#pragma once

// The Deployment controller (deployment-controller): rolls the pods of a Deployment from one template to the
// next by scaling ReplicaSets. Mirrors pkg/controller/deployment, v1.36, and adds spec.podReplacementPolicy.

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeDeploymentController(const ControllerContext& context);

}  // namespace terrarium::controllers
