// Schedules: the syntax, its errors, and the next times. The expected values are what the cron library of
// Kubernetes (robfig/cron v3.0.1) and Go's time package return.

#include "api/cron/cron_schedule.h"

#include <string>

#include <gtest/gtest.h>

namespace terrarium::api {
namespace {

TEST(CronScheduleSyntax, AcceptsWhatTheGoLibraryAccepts) {
  for (const char* good :
       {"*/5 * * * *", "0 0 1 jan SUN", "? 1-5,7 */2 1-12/3 0-6", "5/15 * * * *", "@hourly", "@annually",
        "@every 1h30m", "CRON_TZ=UTC 0 0 * * *", "  1 2 3 4 5  ", "*-9 * * * *", "+3 * * * *", ",1,, * * * *",
        "*\u00a0*\u3000* * *", "TZ=UTC  @hourly  ", "1/9223372036854775807 * * * *"}) {
    EXPECT_EQ(ParseCronSchedule(good).error, "") << good;
  }
}

TEST(CronScheduleSyntax, ErrorsAreThoseOfTheGoLibrary) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "empty spec string"},
      {" ", "expected exactly 5 fields, found 0: []"},
      {"* * * *", "expected exactly 5 fields, found 4: [* * * *]"},
      {"0 * * * * *", "expected exactly 5 fields, found 6: [0 * * * * *]"},
      {"60 * * * *", "end of range (60) above maximum (59): 60"},
      {"* * 0 * *", "beginning of range (0) below minimum (1): 0"},
      {"* * * * 7", "end of range (7) above maximum (6): 7"},
      {"5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"},
      {"*/0 * * * *", "step of range should be a positive number: */0"},
      {"1-2-3 * * * *", "too many hyphens: 1-2-3"},
      {"1/2/3 * * * *", "too many slashes: 1/2/3"},
      {"-1 * * * *", R"(failed to parse int from : strconv.Atoi: parsing "": invalid syntax)"},
      {"*/-1 * * * *", "negative number (-1) not allowed: -1"},
      {"x * * * *", R"(failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax)"},
      {"* * * * monday",
       R"(failed to parse int from monday: strconv.Atoi: parsing "monday": invalid syntax)"},
      {"99999999999999999999 * * * *",
       "failed to parse int from 99999999999999999999: strconv.Atoi: parsing \"99999999999999999999\": value "
       "out "
       "of range"},
      {"@never", "unrecognized descriptor: @never"},
      {"@hourly ", "unrecognized descriptor: @hourly "},
      {"@every x", R"(failed to parse duration @every x: time: invalid duration "x")"},
      {"@every", "unrecognized descriptor: @every"},
      {"TZ=0", "invalid schedule format: runtime error: slice bounds out of range [:-1]"},
      {"TZ=Nowhere * * * * *", "provided bad location Nowhere: unknown time zone Nowhere"},
      {"CRON_TZ=../etc * * * * *", "provided bad location ../etc: time: invalid location name"},
      {"TZ=UTC ", "expected exactly 5 fields, found 0: []"},
  };
  for (const auto& [schedule, error] : cases) {
    EXPECT_EQ(ParseCronSchedule(schedule).error, error) << schedule;
    EXPECT_FALSE(ParseCronSchedule(schedule)) << schedule;
  }
}

// The next three times after `from`.
std::string NextTimes(const char* from, const char* text) {
  const ParsedCronSchedule parsed = ParseCronSchedule(text);
  if (!parsed) return parsed.error;
  std::string times;
  std::optional<Time> time = ParseTime(from);
  for (int i = 0; i < 3; ++i) {
    time = parsed.schedule->Next(*time);
    if (!times.empty()) times += " ";
    if (!time) return times + "never";
    times += FormatTime(*time);
  }
  return times;
}

struct Row {
  const char* from;
  const char* schedule;
  const char* next;
};

TEST(CronSchedule, TheNextTimesAreThoseOfTheGoLibrary) {
  const Row rows[] = {
      {"2026-01-01T00:00:00Z", "*/5 * * * *",
       "2026-01-01T00:05:00Z 2026-01-01T00:10:00Z 2026-01-01T00:15:00Z"},
      {"2026-01-01T00:04:59Z", "*/5 * * * *",
       "2026-01-01T00:05:00Z 2026-01-01T00:10:00Z 2026-01-01T00:15:00Z"},
      {"2026-01-01T00:00:00Z", "30 6-16/4 * * 1-5",
       "2026-01-01T06:30:00Z 2026-01-01T10:30:00Z 2026-01-01T14:30:00Z"},
      {"2026-01-01T00:00:00Z", "0 0 13 * fri",
       "2026-01-02T00:00:00Z 2026-01-09T00:00:00Z 2026-01-13T00:00:00Z"},
      {"2026-01-01T00:00:00Z", "0 0 13 * *",
       "2026-01-13T00:00:00Z 2026-02-13T00:00:00Z 2026-03-13T00:00:00Z"},
      {"2026-01-01T00:00:00Z", "0 0 */2 * fri",
       "2026-01-02T00:00:00Z 2026-01-03T00:00:00Z 2026-01-05T00:00:00Z"},
      {"2026-01-01T00:00:00Z", "0 0 ? * sun",
       "2026-01-04T00:00:00Z 2026-01-11T00:00:00Z 2026-01-18T00:00:00Z"},
      {"2026-01-01T00:00:00Z", "0 12 29 2 *",
       "2028-02-29T12:00:00Z 2032-02-29T12:00:00Z 2036-02-29T12:00:00Z"},
      {"2026-01-01T00:00:00Z", "59 23 31 2 *", "never"},
      {"2026-01-01T00:00:00Z", ", * * * *", "never"},
      {"2026-01-31T12:00:00Z", "0 0 31 * *",
       "2026-03-31T00:00:00Z 2026-05-31T00:00:00Z 2026-07-31T00:00:00Z"},
      {"2026-12-31T23:59:00Z", "@hourly", "2027-01-01T00:00:00Z 2027-01-01T01:00:00Z 2027-01-01T02:00:00Z"},
      {"2026-01-01T00:00:00Z", "@daily", "2026-01-02T00:00:00Z 2026-01-03T00:00:00Z 2026-01-04T00:00:00Z"},
      {"2026-01-01T00:00:00Z", "@weekly", "2026-01-04T00:00:00Z 2026-01-11T00:00:00Z 2026-01-18T00:00:00Z"},
      {"2026-01-15T00:00:00Z", "@monthly", "2026-02-01T00:00:00Z 2026-03-01T00:00:00Z 2026-04-01T00:00:00Z"},
      {"2026-01-01T00:00:00Z", "@yearly", "2027-01-01T00:00:00Z 2028-01-01T00:00:00Z 2029-01-01T00:00:00Z"},
      {"2026-01-01T00:00:10Z", "@every 90s",
       "2026-01-01T00:01:40Z 2026-01-01T00:03:10Z 2026-01-01T00:04:40Z"},
      {"2026-01-01T00:00:10Z", "@every 0.1s",
       "2026-01-01T00:00:11Z 2026-01-01T00:00:12Z 2026-01-01T00:00:13Z"},
      {"2026-01-01T00:00:10Z", "@every -1h",
       "2026-01-01T00:00:11Z 2026-01-01T00:00:12Z 2026-01-01T00:00:13Z"},
      {"2026-01-01T00:00:10Z", "@every 1500ms",
       "2026-01-01T00:00:11Z 2026-01-01T00:00:12Z 2026-01-01T00:00:13Z"},
      {"2026-01-01T00:00:00Z", "TZ=Local 0 3 * * *",
       "2026-01-01T03:00:00Z 2026-01-02T03:00:00Z 2026-01-03T03:00:00Z"},
  };
  for (const Row& row : rows) EXPECT_EQ(NextTimes(row.from, row.schedule), row.next) << row.schedule;
}

TEST(CronSchedule, WhereClocksChangeTheTimesAreThoseOfTheGoLibrary) {
  const Row rows[] = {
      {"2026-03-28T12:00:00Z", "TZ=Europe/Berlin 30 2 * * *",
       "2026-03-30T00:30:00Z 2026-03-31T00:30:00Z 2026-04-01T00:30:00Z"},
      {"2026-10-24T12:00:00Z", "TZ=Europe/Berlin 30 2 * * *",
       "2026-10-25T00:30:00Z 2026-10-25T01:30:00Z 2026-10-26T01:30:00Z"},
      {"2026-03-07T12:00:00Z", "TZ=America/New_York 30 2 * * *",
       "2026-03-09T06:30:00Z 2026-03-10T06:30:00Z 2026-03-11T06:30:00Z"},
      {"2026-10-31T12:00:00Z", "TZ=America/New_York 30 1 * * *",
       "2026-11-01T05:30:00Z 2026-11-01T06:30:00Z 2026-11-02T06:30:00Z"},
      {"2026-03-08T06:30:00Z", "TZ=America/New_York 0 * * * *",
       "2026-03-08T07:00:00Z 2026-03-08T08:00:00Z 2026-03-08T09:00:00Z"},
      {"2026-11-01T04:30:00Z", "TZ=America/New_York 0 * * * *",
       "2026-11-01T05:00:00Z 2026-11-01T06:00:00Z 2026-11-01T07:00:00Z"},
      {"2018-11-03T12:00:00Z", "TZ=America/Sao_Paulo 0 0 * * *",
       "2018-11-05T02:00:00Z 2018-11-06T02:00:00Z 2018-11-07T02:00:00Z"},
      {"2018-11-03T12:00:00Z", "TZ=America/Sao_Paulo 0 0 4 11 *",
       "2019-11-04T03:00:00Z 2020-11-04T03:00:00Z 2021-11-04T03:00:00Z"},
      {"2018-11-03T12:00:00Z", "TZ=America/Sao_Paulo 15 0 * * sun",
       "2018-11-11T02:15:00Z 2018-11-18T02:15:00Z 2018-11-25T02:15:00Z"},
      {"2026-04-04T12:00:00Z", "TZ=Australia/Lord_Howe 45 1 * * *",
       "2026-04-04T14:45:00Z 2026-04-04T15:15:00Z 2026-04-05T15:15:00Z"},
      {"2026-10-03T12:00:00Z", "TZ=Australia/Lord_Howe 15 2 * * *",
       "2026-10-04T15:15:00Z 2026-10-05T15:15:00Z 2026-10-06T15:15:00Z"},
      {"2026-01-01T00:00:00Z", "TZ=Asia/Kathmandu 0 0 * * *",
       "2026-01-01T18:15:00Z 2026-01-02T18:15:00Z 2026-01-03T18:15:00Z"},
      {"2026-03-28T20:00:00Z", "TZ=Asia/Beirut 0 0 * * *",
       "2026-03-29T21:00:00Z 2026-03-30T21:00:00Z 2026-03-31T21:00:00Z"},
      {"2050-03-26T12:00:00Z", "TZ=Europe/Berlin 30 2 * * *",
       "2050-03-28T00:30:00Z 2050-03-29T00:30:00Z 2050-03-30T00:30:00Z"},
      {"2050-06-30T12:00:00Z", "TZ=Europe/Berlin 0 0 * * *",
       "2050-06-30T22:00:00Z 2050-07-01T22:00:00Z 2050-07-02T22:00:00Z"},
      {"2050-06-30T12:00:00Z", "TZ=America/Sao_Paulo 0 0 * * *",
       "2050-07-01T03:00:00Z 2050-07-02T03:00:00Z 2050-07-03T03:00:00Z"},
      {"2011-12-29T12:00:00Z", "TZ=Pacific/Apia 0 0 * * *",
       "2011-12-30T10:00:00Z 2011-12-31T10:00:00Z 2012-01-01T10:00:00Z"},
      {"2026-01-01T00:00:00Z", "CRON_TZ=  0 3 * * *",
       "2026-01-01T03:00:00Z 2026-01-02T03:00:00Z 2026-01-03T03:00:00Z"},
  };
  for (const Row& row : rows) EXPECT_EQ(NextTimes(row.from, row.schedule), row.next) << row.schedule;
}

// Kubernetes' library searches forever here: these places moved across the date line and skipped a day.
TEST(CronSchedule, ADayThatDoesNotExistIsPassed) {
  const Row rows[] = {
      {"2011-12-20T00:00:00Z", "TZ=Pacific/Apia 0 0 31 12 *",
       "2011-12-30T10:00:00Z 2012-12-30T10:00:00Z 2013-12-30T10:00:00Z"},
      {"2011-12-20T00:00:00Z", "TZ=Pacific/Apia 30 6 30 12 *",
       "2012-12-29T16:30:00Z 2013-12-29T16:30:00Z 2014-12-29T16:30:00Z"},
      {"1993-08-15T00:00:00Z", "TZ=Pacific/Kwajalein 0 0 25 8 *",
       "1993-08-24T12:00:00Z 1994-08-24T12:00:00Z 1995-08-24T12:00:00Z"},
      {"1993-08-15T00:00:00Z", "TZ=Pacific/Kwajalein 0 0 * sep tue",
       "1993-09-06T12:00:00Z 1993-09-13T12:00:00Z 1993-09-20T12:00:00Z"},
  };
  for (const Row& row : rows) EXPECT_EQ(NextTimes(row.from, row.schedule), row.next) << row.schedule;
}

// Kubernetes' library returns one of these times forever.
TEST(CronSchedule, ARunBeforeClocksArePutBackOverMidnightIsPassed) {
  const Row rows[] = {
      {"1944-09-28T20:25:59Z", "TZ=America/Phoenix 59 0 */2 */3 *",
       "1944-10-01T06:59:00Z 1944-10-01T07:59:00Z 1944-10-03T07:59:00Z"},
      {"1976-08-14T15:59:00Z", "TZ=Pacific/Saipan 59 2 31 8 0",
       "1976-08-21T15:59:00Z 1976-08-21T16:59:00Z 1976-08-28T16:59:00Z"},
  };
  for (const Row& row : rows) EXPECT_EQ(NextTimes(row.from, row.schedule), row.next) << row.schedule;
}

TEST(CronSchedule, TheNextTimeIsAWholeSecondAndLater) {
  const Time at = *ParseTime("2026-01-01T00:04:59.999999Z");
  EXPECT_EQ(FormatMicroTime(*ParseCronSchedule("*/5 * * * *").schedule->Next(at)),
            "2026-01-01T00:05:00.000000Z");
  EXPECT_EQ(FormatMicroTime(*ParseCronSchedule("@every 1m").schedule->Next(at)),
            "2026-01-01T00:05:59.000000Z");
}

TEST(TimeZone, LoadsByNameAndReportsUnknownNames) {
  std::string error;
  for (const char* name : {"", "UTC", "Local", "Europe/Berlin", "Etc/GMT+5"})
    EXPECT_TRUE(TimeZone::Load(name, &error)) << name;
  EXPECT_EQ(error, "");
  EXPECT_FALSE(TimeZone::Load("Europe/Atlantis", &error));
  EXPECT_EQ(error, "unknown time zone Europe/Atlantis");
  EXPECT_FALSE(TimeZone::Load("/etc/localtime", &error));
  EXPECT_EQ(error, "time: invalid location name");
}

TEST(TimeZone, ATimeIsWrittenWithTheOffsetOfItsZone) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "2026-07-01T12:00:00Z"},
      {"Europe/London", "2026-07-01T13:00:00+01:00"},
      {"America/New_York", "2026-07-01T08:00:00-04:00"},
      {"Asia/Kathmandu", "2026-07-01T17:45:00+05:45"},
      {"America/St_Johns", "2026-07-01T09:30:00-02:30"},
      {"Africa/Abidjan", "2026-07-01T12:00:00Z"},
  };
  const Time time = *ParseTime("2026-07-01T12:00:00Z");
  for (const auto& [zone, text] : cases) EXPECT_EQ(FormatTimeIn(*TimeZone::Load(zone), time), text);
}

TEST(TimeZone, NamesAreCheckedByPart) {
  for (const char* good : {"UTC", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "a"})
    EXPECT_TRUE(IsTimeZoneName(good)) << good;
  for (const char* bad :
       {"", "/UTC", "UTC/", "a//b", "..", "a/./b", "-a", "fifteen_letters_", "a b", "\u00e9"})
    EXPECT_FALSE(IsTimeZoneName(bad)) << bad;
}

}  // namespace
}  // namespace terrarium::api
