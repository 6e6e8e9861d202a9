#pragma once

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

// Maintains pods with stable names and storage for each StatefulSet, one for each ordinal, in order.
std::unique_ptr<Controller> MakeStatefulSetController(const ControllerContext& context);

}  // namespace terrarium::controllers
