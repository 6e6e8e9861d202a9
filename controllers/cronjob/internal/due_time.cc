#include "controllers/cronjob/internal/due_time.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace terrarium::controllers::cronjob {
namespace {

using api::CronSchedule;
using api::Duration;
using api::Time;
using std::chrono::seconds;

// @every has equal distances, so that it has fewer runs than this in the time that is searched.
constexpr int kRunsWalked = 100;

// The newest run from `run` to `now`, of a schedule that does not count from its last run.
Time NewestRunAfter(const CronSchedule& schedule, Time run, Time now) {
  // No run is later than `end` and at most `now`.
  for (Time end = now; end - run > seconds(1);) {
    const Time middle = run + (end - run) / 2;
    const std::optional<Time> next = schedule.Next(middle);
    if (next && *next <= now) {
      run = *next;
    } else {
      end = middle;
    }
  }
  return run;
}

// The newest run up to `now`, found by a search that starts shortly before. The two units of distance keep a
// schedule with irregular distances, and one that counts from its last run (@every), in step.
std::optional<Time> NewestRun(const CronSchedule& schedule, Time first, seconds distance, std::int64_t missed,
                              Time now) {
  std::optional<Time> newest;
  std::optional<Time> run = schedule.Next(first + (missed - 2) * distance);
  for (int walked = 0; run && *run <= now; run = schedule.Next(*run)) {
    newest = run;
    // "* * * 1-6 *" has a first distance of half a year and 260,000 runs in the other half.
    if (++walked == kRunsWalked) return NewestRunAfter(schedule, *run, now);
  }
  return newest;
}

}  // namespace

DueTime DueTimeOf(const CronSchedule& schedule, Time since, std::optional<seconds> deadline, Time now) {
  DueTime due{.earliest = since, .most_recent = {}};
  if (deadline) due.earliest = std::max(since, now - *deadline);
  const std::optional<Time> first = schedule.Next(due.earliest);
  if (first && now < *first) return due;
  const std::optional<Time> second = first ? schedule.Next(*first) : std::nullopt;
  if (second && now < *second) {
    due.most_recent = first;
    return due;
  }
  if (!second || *second - *first < seconds(1)) {
    due.never = true;
    return due;
  }
  const seconds distance = std::chrono::duration_cast<seconds>(*second - *first);
  due.missed = (now - *first) / distance + 1;
  due.most_recent = NewestRun(schedule, *first, distance, due.missed, now);
  return due;
}

Duration WaitForNext(const CronSchedule& schedule, Time since, Time now) {
  const DueTime due = DueTimeOf(schedule, since, std::nullopt, now);
  const bool nothing_missed = !due.never && due.missed == 0;
  const Time last = due.most_recent.value_or(nothing_missed ? due.earliest : now);
  const std::optional<Time> next = schedule.Next(last);
  return next ? std::max(*next + kWakeDelay - now, Duration::zero()) : Duration::zero();
}

std::string FormatRfc1123(Time time) {
  using std::chrono::days;
  constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = std::chrono::floor<days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<seconds>(time - day));
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%s, %02u %s %04d %02d:%02d:%02d +0000",
                kDays[std::chrono::weekday(day).c_encoding()], unsigned(date.day()),
                kMonths[unsigned(date.month()) - 1], int(date.year()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text.data();
}

}  // namespace terrarium::controllers::cronjob
