#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace terrarium::api {

using Duration = std::chrono::microseconds;
// Wall-clock time of the control plane, in microseconds since the Unix epoch (UTC).
using Time = std::chrono::time_point<std::chrono::system_clock, Duration>;

// The source of time for every component. A clock is real, scaled or virtual; components do not see the
// difference.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time Now() const = 0;
};

// RFC 3339 in UTC: whole seconds for metav1.Time ("2026-01-02T03:04:05Z"), six digits for metav1.MicroTime.
std::string FormatTime(Time t);
std::string FormatMicroTime(Time t);
// Accepts any RFC 3339 offset and fraction; nullopt when `text` is not RFC 3339, or when its year in UTC does
// not have four digits.
std::optional<Time> ParseTime(std::string_view text);
// Whether ParseTime reads what the two functions above write for `t`: the years 0 to 9999.
bool HasFourDigitYear(Time t);

}  // namespace terrarium::api
