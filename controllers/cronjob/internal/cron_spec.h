#pragma once

// What a CronJob asks for.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "api/cron/cron_schedule.h"
#include "api/json.h"

namespace terrarium::controllers::cronjob {

enum class ConcurrencyPolicy { kAllow, kForbid, kReplace };

struct CronSpec {
  std::string schedule;
  std::optional<std::string> time_zone;
  bool suspended = false;
  ConcurrencyPolicy policy = ConcurrencyPolicy::kAllow;
  std::optional<std::chrono::seconds> starting_deadline;
  // How many finished Jobs are kept; nullopt: all.
  std::optional<std::int64_t> successful_limit;
  std::optional<std::int64_t> failed_limit;
};

CronSpec ReadCronSpec(const api::Json& document);

// Whether the schedule has a time zone of its own, by Kubernetes' rule. The apiserver accepts no new ones.
bool NamesZone(const std::string& schedule);
// The schedule in the CronJob's time zone. A zone in the schedule has precedence.
api::ParsedCronSchedule ScheduleOf(const CronSpec& spec);

}  // namespace terrarium::controllers::cronjob
