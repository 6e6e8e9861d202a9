#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/cron_schedule.h"
#include "apiserver/strategy/internal/time_zone.h"
#include "tests/apiserver/strategy_testing.h"

namespace terrarium::apiserver {
namespace {

using strategy::CronScheduleError;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Kind;
using testing::kJobTemplate;
using testing::WithSpec;

Kind CronJob() { return Kind(CronJobStrategy(), "batch.v1.CronJob"); }

std::string Spec(std::string_view fields, std::string_view job_fields = "") {
  std::string job = R"("jobTemplate":{"spec":{)" + std::string(kJobTemplate);
  if (!job_fields.empty()) job.append(",").append(job_fields);
  job += "}}";
  return WithSpec({fields, job});
}

TEST(CronSchedule, AcceptsWhatTheGoLibraryAccepts) {
  for (const char* good :
       {"*/5 * * * *", "0 0 1 jan SUN", "? 1-5,7 */2 1-12/3 0-6", "5/15 * * * *", "@hourly", "@annually",
        "@every 1h30m", "CRON_TZ=UTC 0 0 * * *", "  1 2 3 4 5  "}) {
    EXPECT_EQ(CronScheduleError(good), "") << good;
  }
}

TEST(CronSchedule, ErrorsAreThoseOfTheGoLibrary) {
  const std::pair<const char*, const char*> cases[] = {
      {"* * * *", "expected exactly 5 fields, found 4: [* * * *]"},
      {"60 * * * *", "end of range (60) above maximum (59): 60"},
      {"* * 0 * *", "beginning of range (0) below minimum (1): 0"},
      {"5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"},
      {"*/0 * * * *", "step of range should be a positive number: */0"},
      {"1-2-3 * * * *", "too many hyphens: 1-2-3"},
      {"1/2/3 * * * *", "too many slashes: 1/2/3"},
      {"x * * * *", R"(failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax)"},
      {"@never", "unrecognized descriptor: @never"},
      {"@every x", R"(failed to parse duration @every x: time: invalid duration "x")"},
      {"TZ=0", "invalid schedule format: runtime error: slice bounds out of range [:-1]"},
      {"", "empty spec string"},
  };
  for (const auto& [schedule, error] : cases) EXPECT_EQ(CronScheduleError(schedule), error) << schedule;
}

TEST(CronJobStrategy, JobTemplateGetsPodDefaultsButNotThoseOfAJob) {
  const Json object = CronJob().New(Spec(R"("schedule":"*/5 * * * *")"));
  EXPECT_FALSE(object["spec"]["jobTemplate"]["spec"].contains("completions"));
  EXPECT_EQ(object["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"],
            "IfNotPresent");
  EXPECT_THAT(CronJob().CreateErrors(Spec(R"("schedule":"*/5 * * * *")")), IsEmpty());
}

TEST(CronJobStrategy, ScheduleIsRequiredAndRead) {
  EXPECT_THAT(CronJob().CreateErrors(Spec(R"("suspend":true)")),
              ElementsAre("spec.schedule: Required value"));
  EXPECT_THAT(
      CronJob().CreateErrors(Spec(R"("schedule":"* * *")")),
      ElementsAre(R"(spec.schedule: Invalid value: "* * *": expected exactly 5 fields, found 3: [* * *])"));
}

TEST(CronJobStrategy, ZonesInSchedulesMayStayButNotCome) {
  EXPECT_THAT(
      CronJob().CreateErrors(Spec(R"("schedule":"TZ=UTC 0 0 * * *")")),
      ElementsAre(
          "spec.schedule: Invalid value: \"TZ=UTC 0 0 * * *\": cannot use TZ or CRON_TZ in schedule, use "
          "timeZone field instead"));
  Json old = CronJob().New(Spec(R"("schedule":"0 0 * * *")"));
  old["spec"]["schedule"] = "TZ=UTC 0 0 * * *";
  EXPECT_THAT(CronJob().UpdateErrors(old, R"({"spec":{"schedule":"TZ=UTC 0 1 * * *"}})"), IsEmpty());
}

TEST(CronJobStrategy, TimeZonesAreKnownByName) {
  EXPECT_THAT(CronJob().CreateErrors(Spec(R"("schedule":"@daily","timeZone":"")")),
              ElementsAre("spec.timeZone: Invalid value: \"\": timeZone must be nil or non-empty string"));
  EXPECT_THAT(CronJob().CreateErrors(Spec(R"("schedule":"@daily","timeZone":"../etc")")),
              ElementsAre("spec.timeZone: Invalid value: \"../etc\": unknown time zone ../etc"));
  EXPECT_THAT(
      CronJob().CreateErrors(Spec(R"("schedule":"@daily","timeZone":"Local")")),
      ElementsAre(
          "spec.timeZone: Invalid value: \"Local\": timeZone must be an explicit time zone as defined in "
          "https://www.iana.org/time-zones"));
  EXPECT_THAT(CronJob().CreateErrors(Spec(R"("schedule":"@daily","timeZone":"UTC")")), IsEmpty());
  EXPECT_THAT(CronJob().CreateErrors(Spec(R"("schedule":"@daily","timeZone":"Europe/Berlin")")), IsEmpty());
  // Without a time zone database every well-formed name is accepted.
  std::vector<std::string> errors;
  if (std::filesystem::exists("/usr/share/zoneinfo"))
    errors.emplace_back(
        "spec.timeZone: Invalid value: \"Europe/Atlantis\": unknown time zone Europe/Atlantis");
  EXPECT_EQ(CronJob().CreateErrors(Spec(R"("schedule":"@daily","timeZone":"Europe/Atlantis")")), errors);
}

TEST(CronJobStrategy, JobTemplateHasNoSelector) {
  EXPECT_THAT(
      CronJob().CreateErrors(
          Spec(R"("schedule":"@daily")", R"("selector":{"matchLabels":{"a":"b"}},"manualSelector":true)")),
      ElementsAre("spec.jobTemplate.spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\"}}: "
                  "`selector` will be "
                  "auto-generated",
                  "spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: \"nil\", "
                  "\"false\""));
}

TEST(CronJobStrategy, NamesLeaveRoomForTheJobs) {
  const std::string name(53, 'a');
  std::string object = Spec(R"("schedule":"@daily")");
  object.replace(object.find("\"n\""), 3, "\"" + name + "\"");
  EXPECT_THAT(CronJob().CreateErrors(object), ElementsAre("metadata.name: Invalid value: \"" + name +
                                                          "\": must be no more than 52 characters"));
}

}  // namespace
}  // namespace terrarium::apiserver
