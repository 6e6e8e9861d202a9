#include "api/cron/cron_schedule.h"

#include <algorithm>

namespace terrarium::api {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::local_days;
using std::chrono::local_seconds;
using std::chrono::minutes;
using std::chrono::months;
using std::chrono::seconds;
using std::chrono::sys_seconds;
using std::chrono::weekday;
using std::chrono::year_month_day;

using Bits = CronSchedule::Bits;

constexpr int kYearsAhead = 5;

bool Allows(Bits bits, unsigned value) { return (bits >> value & 1) != 0; }

// The local calendar and clock at an instant.
struct LocalTime {
  year_month_day date;
  unsigned hour;
  unsigned minute;
};

// Searches forward, from months to minutes. Each unit that does not match is stepped until it does. A step
// that enters a new larger unit restarts the search, because the larger units need to match again.
//
// Months and days are steps of the calendar, hours and minutes steps of elapsed time. Where clocks are put
// forward or back, the results therefore are: a run in a skipped hour is left out for the day, and an hour
// that occurs twice has its runs twice.
class Search {
 public:
  Search(const std::array<Bits, CronSchedule::kFields>& fields, TimeZone zone, sys_seconds from)
      : fields_(fields),
        zone_(zone),
        at_(from),
        year_limit_(Local().date.year() + std::chrono::years(kYearsAhead)) {}

  std::optional<sys_seconds> Run() {
    while (Local().date.year() <= year_limit_) {
      const bool restart = StepMonths() || StepDays() || StepHours() || StepMinutes() || StepSeconds();
      if (!restart) return at_;
    }
    return std::nullopt;
  }

 private:
  LocalTime Local() const {
    const local_seconds local = zone_.ToLocal(at_);
    const local_days day = floor<days>(local);
    const seconds of_day = local - day;
    return {year_month_day(day), static_cast<unsigned>(of_day / hours(1)),
            static_cast<unsigned>(of_day % hours(1) / minutes(1))};
  }
  // The same time of day on another day.
  void MoveTo(local_days day) {
    const local_seconds local = zone_.ToLocal(at_);
    at_ = zone_.FromLocal(day + (local - floor<days>(local)));
  }
  // A zone that crosses the date line skips a whole day, and a time on that day is taken for one on the day
  // before.
  //
  // DIVERGES: the library of Kubernetes then tries the same day again, forever.
  void EnsureLaterThan(sys_seconds before) {
    if (at_ <= before) at_ = before + days(1);
  }
  void MoveToMidnight(year_month_day date) { at_ = zone_.FromLocal(local_days(date)); }
  // Smaller units begin from their start once a larger one has been stepped.
  bool FirstStep() { return !std::exchange(stepped_, true); }

  bool StepMonths() {
    for (LocalTime now = Local(); !Allows(fields_[CronSchedule::kMonth], unsigned(now.date.month()));) {
      if (FirstStep()) MoveToMidnight(now.date.year() / now.date.month() / 1);
      const sys_seconds before = at_;
      const year_month_day date = Local().date;
      // A month that is too short for the day continues in the next one.
      const year_month_day first = date.year() / date.month() / 1;
      MoveTo(local_days(first + months(1)) + (local_days(date) - local_days(first)));
      EnsureLaterThan(before);
      now = Local();
      if (now.date.month() == std::chrono::January) return true;
    }
    return false;
  }

  bool StepDays() {
    for (LocalTime now = Local(); !DayMatches(now.date);) {
      if (FirstStep()) MoveToMidnight(now.date);
      const sys_seconds before = at_;
      MoveTo(local_days(Local().date) + days(1));
      // Where midnight does not exist, the nearest hour counts as midnight.
      const unsigned hour = Local().hour;
      if (hour > 12) {
        at_ += hours(24 - hour);
      } else {
        at_ -= hours(hour);
      }
      EnsureLaterThan(before);
      now = Local();
      if (unsigned(now.date.day()) == 1) return true;
    }
    return false;
  }

  bool StepHours() {
    for (LocalTime now = Local(); !Allows(fields_[CronSchedule::kHour], now.hour);) {
      if (FirstStep()) at_ = zone_.FromLocal(local_days(now.date) + hours(now.hour));
      at_ += hours(1);
      now = Local();
      if (now.hour == 0) return true;
    }
    return false;
  }

  bool StepMinutes() {
    for (LocalTime now = Local(); !Allows(fields_[CronSchedule::kMinute], now.minute);) {
      if (FirstStep()) at_ = floor<minutes>(at_);
      at_ += minutes(1);
      now = Local();
      if (now.minute == 0) return true;
    }
    return false;
  }

  // Every run is at the second 0.
  bool StepSeconds() {
    const local_seconds local = zone_.ToLocal(at_);
    const seconds second = local - floor<minutes>(local);
    if (second == seconds::zero()) return false;
    stepped_ = true;
    at_ += minutes(1) - second;
    return true;
  }

  bool DayMatches(const year_month_day& date) const {
    const Bits of_month = fields_[CronSchedule::kDayOfMonth];
    const Bits of_week = fields_[CronSchedule::kDayOfWeek];
    const bool month_matches = Allows(of_month, unsigned(date.day()));
    const bool week_matches = Allows(of_week, weekday(local_days(date)).c_encoding());
    // Of two restricted fields one is enough; a field with * restricts nothing.
    if (((of_month | of_week) & CronSchedule::kAny) != 0) return month_matches && week_matches;
    return month_matches || week_matches;
  }

  const std::array<Bits, CronSchedule::kFields>& fields_;
  const TimeZone zone_;
  sys_seconds at_;
  const std::chrono::year year_limit_;
  bool stepped_ = false;
};

}  // namespace

CronSchedule::CronSchedule(Duration every)
    : every_(std::max(std::chrono::duration_cast<seconds>(every), seconds(1))) {}

std::optional<Time> CronSchedule::Next(Time time) const {
  const sys_seconds whole = floor<seconds>(time);
  if (every_ != seconds::zero()) return whole + every_;
  // A field like "," allows nothing. The search would find that out minute by minute.
  const auto never = [this](Field field) { return (fields_[field] & ~kAny) == 0; };
  if (never(kMinute) || never(kHour) || never(kMonth)) return std::nullopt;
  // Where clocks are put back over midnight, the search can step back as well.
  //
  // DIVERGES: the library of Kubernetes then returns the same time again and again.
  for (sys_seconds from = whole + seconds(1);; from += minutes(1)) {
    const std::optional<sys_seconds> next = Search(fields_, zone_, from).Run();
    if (!next || *next > whole) return next;
  }
}

}  // namespace terrarium::api
