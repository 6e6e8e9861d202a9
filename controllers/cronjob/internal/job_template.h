#pragma once

// The Job of a scheduled run.

#include <string>

#include "api/base/clock.h"
#include "api/cron/time_zone.h"
#include "api/json.h"
#include "api/object.h"

namespace terrarium::controllers::cronjob {

// The CronJob's name and the minutes from the epoch to the scheduled time. One run has one name, whichever
// controller creates its Job, so that no run is started twice.
std::string JobNameOf(const std::string& cron_job, api::Time scheduled);

// `document` is that of `cron_job`. The annotation has the scheduled time in `zone`.
api::Json JobOf(const api::Object& cron_job, const api::Json& document, api::Time scheduled,
                const api::TimeZone& zone);

}  // namespace terrarium::controllers::cronjob
