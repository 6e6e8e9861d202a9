#pragma once

// The syntax of a CronJob's schedule: five fields or a descriptor (@hourly, @every 90s), as the cron library
// of Kubernetes reads it.

#include <string>
#include <string_view>

namespace terrarium::apiserver::strategy {

// "" when the schedule can be read, or that library's words for what is wrong.
std::string CronScheduleError(std::string_view schedule);

}  // namespace terrarium::apiserver::strategy
