#pragma once

// The syntax of a CronJob's schedule: five fields or a descriptor (@hourly, @every 90s), as the cron library
// of Kubernetes reads it.

#include <string>
#include <string_view>

namespace terrarium::apiserver::strategy {

// "" for a valid schedule, or that library's error message.
std::string CronScheduleError(std::string_view schedule);

}  // namespace terrarium::apiserver::strategy
