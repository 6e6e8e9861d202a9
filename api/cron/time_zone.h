#pragma once

// Time zones by their IANA names, from the system's time zone database.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "api/base/clock.h"

namespace date {
class time_zone;
}

namespace terrarium::api {

// A value that is cheap to copy. Thread-safe.
class TimeZone {
 public:
  // UTC.
  TimeZone() = default;

  // "" and "UTC" are UTC, and so is "Local": the control plane has no local time of its own. nullopt for a
  // name that the database does not have; then `error`, if given, has Go's words.
  static std::optional<TimeZone> Load(std::string_view name, std::string* error = nullptr);

  // The time span around `time` in which the offset from UTC is the same.
  struct Period {
    std::chrono::sys_seconds begin;
    std::chrono::sys_seconds end;  // exclusive
    std::chrono::seconds offset;   // local time minus UTC
  };
  Period PeriodAt(std::chrono::sys_seconds time) const;

  std::chrono::local_seconds ToLocal(std::chrono::sys_seconds time) const;
  // The instant of a local time. A local time that occurs twice, or that a change of the clocks skips, is
  // resolved as Go's time.Date does, since the runs of CronJobs depend on it.
  std::chrono::sys_seconds FromLocal(std::chrono::local_seconds local) const;

 private:
  explicit TimeZone(const date::time_zone* zone) : zone_(zone) {}

  const date::time_zone* zone_ = nullptr;  // nullptr: UTC
};

// Whether each part between slashes has 1 to 14 letters, digits and . - _ +, begins with no "-" and is
// neither
// "." nor "..".
bool IsTimeZoneName(std::string_view name);

// RFC 3339 with the offset of the zone: "2026-03-29T03:30:00+02:00", "2026-01-01T00:00:00Z".
std::string FormatTimeIn(const TimeZone& zone, Time time);

}  // namespace terrarium::api
