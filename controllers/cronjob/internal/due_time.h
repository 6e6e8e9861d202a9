#pragma once

// When a CronJob is due, and how many of its runs were missed. Mirrors pkg/controller/cronjob/utils.go,
// v1.36.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "api/base/clock.h"
#include "api/cron/cron_schedule.h"

namespace terrarium::controllers::cronjob {

// More missed runs than this are worth a warning.
inline constexpr std::int64_t kMissedMax = 100;
// The controller wakes this long after the scheduled time, as in Kubernetes, where clocks differ a little.
inline constexpr api::Duration kWakeDelay = std::chrono::milliseconds(100);

// Why a schedule like that of 30 February cannot be used.
inline constexpr const char* kNeverDue = "time difference between two schedules is less than 1 second";

struct DueTime {
  api::Time earliest{};                  // runs at or before this time do not count
  std::optional<api::Time> most_recent;  // the newest run that is due
  // How many runs are due, estimated from the distance of the first two; 0 if at most one is.
  std::int64_t missed = 0;
  bool never = false;  // see kNeverDue
};

// `since` is the last scheduled time or, before the first run, the CronJob's creation. `deadline` is
// startingDeadlineSeconds where it limits how old a run may be.
DueTime DueTimeOf(const api::CronSchedule& schedule, api::Time since,
                  std::optional<std::chrono::seconds> deadline, api::Time now);

// The time until the controller has to sync the CronJob for its next run. 0 if the schedule is never due.
api::Duration WaitForNext(const api::CronSchedule& schedule, api::Time since, api::Time now);

// "Thu, 01 Jan 2026 00:05:00 +0000", as Go's time.RFC1123Z in UTC.
std::string FormatRfc1123(api::Time time);

}  // namespace terrarium::controllers::cronjob
