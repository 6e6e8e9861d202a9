#include "api/cron/time_zone.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <date/tz.h>

namespace terrarium::api {
namespace {

using std::chrono::floor;
using std::chrono::local_seconds;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;
using std::chrono::year;
using std::chrono::year_month_day;

constexpr std::size_t kMaxPartLength = 14;

// The files of the database list the changes of offsets up to here. Later ones follow from a rule, which the
// library does not read.
constexpr year kLastListedYear{2037};
constexpr year kLastFourDigitYear{9999};

bool IsPart(std::string_view part) {
  if (part.empty() || part.size() > kMaxPartLength || part.front() == '-' || part == "." || part == "..")
    return false;
  return std::all_of(part.begin(), part.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c == '+';
  });
}

// The names that Go refuses before it looks for a file.
bool LeadsOutOfDatabase(std::string_view name) {
  return name.front() == '/' || name.front() == '\\' || name.find("..") != std::string_view::npos;
}

const date::time_zone* Find(std::string_view name) {
  // The library throws for unknown names, and where there is no database.
  try {
    return date::locate_zone(std::string(name));
  } catch (const std::exception&) {
    return nullptr;
  }
}

year YearOf(sys_seconds time) { return year_month_day(floor<std::chrono::days>(time)).year(); }

sys_days FirstOfMarch(year y) { return y / std::chrono::March / 1; }

// The distance from `wanted` to the newest listed year with the same weekdays, since rules name weekdays.
// Weekdays are compared from March on, since no rule changes the clocks before.
seconds ShiftToListedYear(year wanted) {
  year listed = kLastListedYear;
  while (std::chrono::weekday(FirstOfMarch(listed)) != std::chrono::weekday(FirstOfMarch(wanted))) --listed;
  return FirstOfMarch(wanted) - FirstOfMarch(listed);
}

}  // namespace

std::optional<TimeZone> TimeZone::Load(std::string_view name, std::string* error) {
  if (name.empty() || name == "UTC" || name == "Local") return TimeZone();
  const bool refused = LeadsOutOfDatabase(name);
  if (const date::time_zone* zone = refused ? nullptr : Find(name)) return TimeZone(zone);
  if (error != nullptr)
    *error = refused ? "time: invalid location name" : "unknown time zone " + std::string(name);
  return std::nullopt;
}

TimeZone::Period TimeZone::PeriodAt(sys_seconds time) const {
  if (zone_ == nullptr) return {sys_seconds::min(), sys_seconds::max(), seconds::zero()};
  const auto read = [this](sys_seconds at) {
    const date::sys_info info = zone_->get_info(at);
    return Period{info.begin, info.end, info.offset};
  };
  const Period period = read(time);
  const year wanted = YearOf(time);
  // A zone without a rule has its last change earlier, one with a long list later.
  const bool last = YearOf(period.end) > kLastFourDigitYear;
  if (wanted <= kLastListedYear || !last || YearOf(period.begin) != kLastListedYear) return period;
  const seconds shift = ShiftToListedYear(wanted);
  const Period listed = read(time - shift);
  const sys_seconds begin = sys_days(wanted / std::chrono::January / 1);
  const sys_seconds end = sys_days((wanted + std::chrono::years(1)) / std::chrono::January / 1);
  return {std::max(listed.begin + shift, begin), std::min(listed.end + shift, end), listed.offset};
}

local_seconds TimeZone::ToLocal(sys_seconds time) const {
  return local_seconds(time.time_since_epoch() + PeriodAt(time).offset);
}

sys_seconds TimeZone::FromLocal(local_seconds local) const {
  const sys_seconds as_utc(local.time_since_epoch());
  const Period near = PeriodAt(as_utc);
  if (near.offset == seconds::zero()) return as_utc;
  const sys_seconds guess = as_utc - near.offset;
  if (near.begin <= guess && guess < near.end) return guess;
  return as_utc - PeriodAt(guess).offset;
}

bool IsTimeZoneName(std::string_view name) {
  for (;;) {
    const std::size_t slash = name.find('/');
    if (!IsPart(name.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
}

std::string FormatTimeIn(const TimeZone& zone, Time time) {
  const seconds offset = zone.PeriodAt(floor<seconds>(time)).offset;
  std::string text = FormatTime(time + offset);
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(offset).count();
  if (offset == seconds::zero()) return text;
  text.pop_back();
  std::array<char, 16> suffix{};
  std::snprintf(suffix.data(), suffix.size(), "%c%02d:%02d", minutes < 0 ? '-' : '+',
                static_cast<int>(std::abs(minutes) / 60), static_cast<int>(std::abs(minutes) % 60));
  return text + suffix.data();
}

}  // namespace terrarium::api
