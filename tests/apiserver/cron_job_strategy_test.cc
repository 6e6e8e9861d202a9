#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/strategies.h"
#include "tests/apiserver/strategy_testing.h"

namespace terrarium::apiserver {
namespace {

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
  EXPECT_THAT(
      CronJob().CreateErrors(Spec(R"("schedule":"@daily","timeZone":"Europe/Atlantis")")),
      ElementsAre("spec.timeZone: Invalid value: \"Europe/Atlantis\": unknown time zone Europe/Atlantis"));
  // A folder of the database, and a name that differs in case.
  EXPECT_THAT(CronJob().CreateErrors(Spec(R"("schedule":"@daily","timeZone":"America")")),
              ElementsAre("spec.timeZone: Invalid value: \"America\": unknown time zone America"));
  EXPECT_THAT(
      CronJob().CreateErrors(Spec(R"("schedule":"@daily","timeZone":"LOCAL")")),
      ElementsAre(
          "spec.timeZone: Invalid value: \"LOCAL\": timeZone must be an explicit time zone as defined in "
          "https://www.iana.org/time-zones",
          "spec.timeZone: Invalid value: \"LOCAL\": unknown time zone LOCAL"));
}

TEST(CronJobStrategy, AStoredTimeZoneIsCheckedOnlyWhenItChanges) {
  Json old = CronJob().New(Spec(R"("schedule":"@daily")"));
  EXPECT_THAT(CronJob().UpdateErrors(old, R"({"spec":{"timeZone":""}})"),
              ElementsAre("spec.timeZone: Invalid value: \"\": timeZone must be nil or non-empty string"));
  old["spec"]["timeZone"] = "Europe/Atlantis";
  EXPECT_THAT(CronJob().UpdateErrors(old, R"({"spec":{"suspend":true}})"), IsEmpty());
  EXPECT_THAT(
      CronJob().UpdateErrors(old, R"({"spec":{"timeZone":"Asia/Atlantis"}})"),
      ElementsAre("spec.timeZone: Invalid value: \"Asia/Atlantis\": unknown time zone Asia/Atlantis"));
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
