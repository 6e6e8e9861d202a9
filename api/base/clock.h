#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <optional>

namespace terrarium::api {

using Duration = std::chrono::microseconds;
// Wall-clock time of the plane, in microseconds since the Unix epoch (UTC).
using Time = std::chrono::time_point<std::chrono::system_clock, Duration>;

// Where every component gets its time from. Real, scaled or virtual; nobody can tell which.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time Now() const = 0;
};

// RFC 3339 in UTC: whole seconds for metav1.Time ("2026-01-02T03:04:05Z"), six digits for metav1.MicroTime.
std::string FormatTime(Time t);
std::string FormatMicroTime(Time t);
// Accepts any RFC 3339 offset and fraction; nullopt when it is none.
std::optional<Time> ParseTime(std::string_view text);

}  // namespace terrarium::api
