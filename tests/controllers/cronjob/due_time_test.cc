// When a CronJob is due. The tables have the cases and the numbers of pkg/controller/cronjob/utils_test.go.

#include "controllers/cronjob/internal/due_time.h"

#include <string>

#include <gtest/gtest.h>

namespace terrarium::controllers::cronjob {
namespace {

using std::chrono::seconds;
using namespace std::chrono_literals;

// A Thursday, 10:00.
const api::Time kTop = *api::ParseTime("2016-05-19T10:00:00Z");

api::CronSchedule Schedule(const char* text) {
  api::ParsedCronSchedule parsed = api::ParseCronSchedule(text);
  EXPECT_EQ(parsed.error, "");
  return *parsed.schedule;
}

// "none", "few" or "many" missed runs, as Kubernetes distinguishes them.
std::string Missed(const DueTime& due) {
  if (due.missed == 0) return "none";
  return due.missed > kMissedMax ? "many" : "few";
}

struct DueRow {
  const char* name;
  const char* schedule;
  seconds since;  // all times are from the top of the hour
  std::optional<seconds> deadline;
  seconds now;
  seconds earliest;
  std::optional<seconds> most_recent;
  const char* missed;
};

TEST(DueTime, IsThatOfKubernetes) {
  const DueRow rows[] = {
      {"before the next run", "0 * * * *", 0s, {}, 30s, 0s, {}, "none"},
      {"just after it", "0 * * * *", 0s, {}, 61min, 0s, 60min, "none"},
      {"exactly at it", "0 * * * *", 0s, {}, 60min, 0s, 60min, "none"},
      {"five runs", "0 * * * *", 10s, {}, 301min, 10s, 300min, "few"},
      {"irregular", "30 6-16/4 * * 1-5", 30min, {}, 24h + 31min, 30min, 24h + 30min, "few"},
      {"a burst a day", "30 10,11,12 * * 1-5", 30min, {}, 30h + 30min, 30min, {}, "few"},
      {"over a weekend", "30 6-16/4 * * 1-5", 30min, {}, 96h + 31min, 30min, 96h + 30min, "few"},
      {"first distance short", "30 6-16/4 * * 1-5", 0s, {}, 24h + 31min, 0s, 24h + 30min, "few"},
      {"@every keeps its phase", "@every 1h", 1min, {}, 168h, 1min, 167h + 1min, "many"},
      {"a deadline within", "*/5 * * * *", 30min, 1min, 31min, 30min, {}, "none"},
      {"a deadline outside", "*/5 * * * *", 30min, 1min, 32min, 31min, {}, "none"},
      {"a deadline limits what counts", "0 * * * *", -1h, 2h, 241h, 239h, 241h, "few"},
      {"without it there are many", "0 * * * *", -1h, {}, 241h, -1h, 241h, "many"},
      {"100 are not too many", "* * * * *", 0s, {}, 100min, 0s, 100min, "few"},
      {"101 are", "* * * * *", 0s, {}, 101min, 0s, 101min, "many"},
  };
  for (const DueRow& row : rows) {
    const DueTime due = DueTimeOf(Schedule(row.schedule), kTop + row.since, row.deadline, kTop + row.now);
    EXPECT_FALSE(due.never) << row.name;
    EXPECT_EQ(due.earliest, kTop + row.earliest) << row.name;
    EXPECT_EQ(Missed(due), row.missed) << row.name;
    ASSERT_EQ(due.most_recent.has_value(), row.most_recent.has_value()) << row.name;
    if (row.most_recent) {
      EXPECT_EQ(*due.most_recent, kTop + *row.most_recent) << row.name;
    }
  }
}

// The first distance is half a year. A search that walks all runs of the other half takes a second, and the
// test minutes.
TEST(DueTime, TheNewestOfManyRunsIsFoundWithoutWalkingThemAll) {
  const api::CronSchedule schedule = Schedule("* * * 1-6 *");
  const api::Time since = *api::ParseTime("2010-06-30T23:58:30Z");
  for (int minute = 0; minute < 200; ++minute) {
    const DueTime due = DueTimeOf(schedule, since, {}, kTop + minute * 1min + 30s);
    ASSERT_TRUE(due.most_recent);
    EXPECT_EQ(*due.most_recent, kTop + minute * 1min);
  }
  const DueTime in_autumn = DueTimeOf(schedule, since, {}, *api::ParseTime("2015-11-01T00:00:00Z"));
  EXPECT_EQ(in_autumn.most_recent, api::ParseTime("2015-06-30T23:59:00Z"));
}

TEST(DueTime, AScheduleThatIsNeverDueIsAnError) {
  EXPECT_TRUE(DueTimeOf(Schedule("59 23 31 2 *"), kTop, {}, kTop + 1h).never);
  EXPECT_EQ(WaitForNext(Schedule("59 23 31 2 *"), kTop, kTop + 1h), 0s);
}

struct WaitRow {
  const char* name;
  const char* schedule;
  seconds since;
  seconds now;
  seconds wait;  // without the delay
};

TEST(DueTime, TheWaitForTheNextRunIsThatOfKubernetes) {
  const WaitRow rows[] = {
      {"irregular", "30 6-16/4 * * 1-5", 30min, 24h + 31min, 3h + 59min},
      {"over a weekend", "30 10,11,12 * * 1-5", 30min, 30h + 30min, 66h},
      {"once a week, two runs missed", "0 12 * * 4", 2h, 457h + 30min, 48h + 30min},
      {"never ran", "0 12 * * 5", 0s, 6h, 20h},
      {"@every counts from the last run", "@every 1h", 10min, 20min, 50min},
  };
  for (const WaitRow& row : rows) {
    EXPECT_EQ(WaitForNext(Schedule(row.schedule), kTop + row.since, kTop + row.now), row.wait + kWakeDelay)
        << row.name;
  }
}

TEST(DueTime, EventsHaveTheTimeInTheFormOfRfc1123) {
  EXPECT_EQ(FormatRfc1123(kTop + 61s), "Thu, 19 May 2016 10:01:01 +0000");
  EXPECT_EQ(FormatRfc1123(*api::ParseTime("2026-01-04T23:59:00.9Z")), "Sun, 04 Jan 2026 23:59:00 +0000");
}

}  // namespace
}  // namespace terrarium::controllers::cronjob
