#pragma once

// The Job controller (job-controller): runs pods until enough of them have succeeded, and counts each exactly
// once. Mirrors pkg/controller/job, v1.36.

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeJobController(const ControllerContext& context);

}  // namespace terrarium::controllers
