#include "apiserver/table/human_duration.h"

#include <chrono>
#include <cstdint>

namespace terrarium::apiserver {
namespace {

// "3m20s", or "3m" when the smaller part is zero.
std::string TwoUnits(std::int64_t large, const char* large_unit, std::int64_t small, const char* small_unit) {
  std::string out = std::to_string(large) + large_unit;
  if (small != 0) out += std::to_string(small) + small_unit;
  return out;
}

}  // namespace

std::string HumanDuration(api::Duration duration) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  // Two machines' clocks may differ a little: a second in the future is now.
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 2 * 60) return std::to_string(seconds) + "s";
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) return TwoUnits(minutes, "m", seconds % 60, "s");
  if (minutes < 3 * 60) return std::to_string(minutes) + "m";
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return TwoUnits(hours, "h", minutes % 60, "m");
  if (hours < 48) return std::to_string(hours) + "h";
  const std::int64_t days = hours / 24;
  if (days < 8) return TwoUnits(days, "d", hours % 24, "h");
  if (days < 2 * 365) return std::to_string(days) + "d";
  const std::int64_t years = days / 365;
  if (years < 8) return TwoUnits(years, "y", days % 365, "d");
  return std::to_string(years) + "y";
}

}  // namespace terrarium::apiserver
