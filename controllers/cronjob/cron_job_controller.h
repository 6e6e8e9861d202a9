#pragma once

// The CronJob controller (cronjob-controller): creates Jobs on a schedule and deletes old ones. Mirrors
// pkg/controller/cronjob, v1.36.

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeCronJobController(const ControllerContext& context);

}  // namespace terrarium::controllers
