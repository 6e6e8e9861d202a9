#pragma once

// The schedule of a CronJob, with the syntax, the error texts and the results of the cron library that
// Kubernetes uses (robfig/cron, ParseStandard).

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/base/clock.h"
#include "api/cron/time_zone.h"

namespace terrarium::api {

class CronSchedule;

struct ParsedCronSchedule;

// Five fields (minute, hour, day of month, month, day of week), a descriptor such as @hourly, or @every and a
// duration; before each of them "TZ=ZONE " or "CRON_TZ=ZONE ". Without a zone the fields are in UTC.
ParsedCronSchedule ParseCronSchedule(std::string_view text);

class CronSchedule {
 public:
  enum Field { kMinute, kHour, kDayOfMonth, kMonth, kDayOfWeek, kFields };
  // The values that a field allows, one bit for each. kAny marks a field that contains * or ?, which decides
  // how days of the month and of the week are combined.
  using Bits = std::uint64_t;
  static constexpr Bits kAny = Bits{1} << 63;

  CronSchedule(const std::array<Bits, kFields>& fields, TimeZone zone) : fields_(fields), zone_(zone) {}
  // At least a second; fractions of a second are dropped.
  explicit CronSchedule(Duration every);

  // The first time after `time` at which the schedule is due, in whole seconds; nullopt if there is none
  // within five years, as for 30 February.
  std::optional<Time> Next(Time time) const;

 private:
  std::array<Bits, kFields> fields_{};
  TimeZone zone_;
  std::chrono::seconds every_{};  // not 0: the fields do not count
};

struct ParsedCronSchedule {
  std::optional<CronSchedule> schedule;
  std::string error;  // in the words of that library; empty on success
  explicit operator bool() const { return schedule.has_value(); }
};

}  // namespace terrarium::api
