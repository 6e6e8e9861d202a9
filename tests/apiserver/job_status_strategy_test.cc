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

Kind JobKind() { return Kind(JobStrategy(), "batch.v1.Job"); }

Json JobWith(std::string_view spec, std::string_view status = "{}") {
  Json job = JobKind().New(spec.empty() ? WithSpec({kJobTemplate}) : WithSpec({kJobTemplate, spec}));
  job["status"] = Json::parse(status);
  return job;
}

constexpr const char* kStarted =
    R"({"startTime":"2026-01-01T00:00:00Z","active":1,"failed":2,"succeeded":1})";

std::string Conditions(std::initializer_list<const char*> types) {
  std::string out = R"("conditions":[)";
  const char* separator = "";
  for (const char* type : types) {
    out.append(separator).append(R"({"type":")").append(type).append(R"(","status":"True"})");
    separator = ",";
  }
  return out + "]";
}

TEST(JobStatus, FinishingProperlyIsTaken) {
  EXPECT_THAT(JobKind().StatusErrors(JobWith("", kStarted),
                                     R"({"active":0,"succeeded":2,"completionTime":"2026-01-01T00:01:00Z",)" +
                                         Conditions({"SuccessCriteriaMet", "Complete"}) + "}"),
              IsEmpty());
}

TEST(JobStatus, CompleteNeedsItsTimeAndItsCriteria) {
  EXPECT_THAT(
      JobKind().StatusErrors(JobWith("", kStarted), R"({"active":0,)" + Conditions({"Complete"}) + "}"),
      ElementsAre("status.completionTime: Required value: completionTime is required for Complete jobs",
                  "status.conditions: Invalid value: cannot set Complete=True condition without the "
                  "SuccessCriteriaMet=true condition"));
}

TEST(JobStatus, FailedNeedsItsTarget) {
  EXPECT_THAT(JobKind().StatusErrors(JobWith("", kStarted), R"({"active":0,)" + Conditions({"Failed"}) + "}"),
              ElementsAre("status.conditions: Invalid value: cannot set Failed=True condition without the "
                          "FailureTarget=true condition"));
}

TEST(JobStatus, FinishedJobHasNoPodsLeft) {
  EXPECT_THAT(JobKind().StatusErrors(JobWith("", kStarted),
                                     R"({"terminating":1,)" + Conditions({"Failed", "FailureTarget"}) + "}"),
              ElementsAre("status.active: Invalid value: 1: active>0 is invalid for finished job",
                          "status.terminating: Invalid value: 1: terminating>0 is invalid for finished job"));
}

TEST(JobStatus, CountersAndTimesDoNotGoBack) {
  EXPECT_THAT(
      JobKind().StatusErrors(JobWith("", kStarted),
                             R"({"failed":1,"succeeded":0,"startTime":"2026-01-01T00:00:05Z"})"),
      ElementsAre(
          "status.failed: Invalid value: 1: cannot decrease the failed counter",
          "status.succeeded: Invalid value: 0: cannot decrease the succeeded counter",
          "status.startTime: Invalid value: \"2026-01-01T00:00:05Z\": field is immutable for unsuspended "
          "job once set"));
}

TEST(JobStatus, TerminalConditionsStay) {
  const std::string failed =
      R"({"startTime":"2026-01-01T00:00:00Z",)" + Conditions({"FailureTarget", "Failed"}) + "}";
  EXPECT_THAT(
      JobKind().StatusErrors(JobWith("", failed), R"({"conditions":null})"),
      ElementsAre(
          "status.conditions: Invalid value: cannot disable the terminal Failed=True condition",
          "status.conditions: Invalid value: cannot disable the terminal FailureTarget=True condition"));
}

TEST(JobStatus, IndexListsAreReadAndDoNotOverlap) {
  const Json job = JobWith(R"("completionMode":"Indexed","completions":5,"backoffLimitPerIndex":1)");
  EXPECT_THAT(
      JobKind().StatusErrors(job, R"({"completedIndexes":"0-2","failedIndexes":"2,4"})"),
      ElementsAre(
          "status.failedIndexes: Invalid value: \"2,4\": failedIndexes and completedIndexes overlap at "
          "index: 2"));
  EXPECT_THAT(
      JobKind().StatusErrors(job, R"({"completedIndexes":"3,1"})"),
      ElementsAre(
          "status.completedIndexes: Invalid value: \"3,1\": error parsing completedIndexes: non-increasing "
          "order, previous: 3, current: 1"));
  EXPECT_THAT(
      JobKind().StatusErrors(JobWith(""), R"({"completedIndexes":"0"})"),
      ElementsAre("status.completedIndexes: Invalid value: \"0\": cannot set non-empty completedIndexes when "
                  "non-indexed completion mode"));
}

TEST(JobStatus, UncountedPodsAreNamedOnce) {
  EXPECT_THAT(
      JobKind().StatusErrors(JobWith(""),
                             R"({"uncountedTerminatedPods":{"succeeded":["a"],"failed":["a",""]}})"),
      ElementsAre("status.uncountedTerminatedPods.failed[0]: Duplicate value: \"a\"",
                  "status.uncountedTerminatedPods.failed[1]: Invalid value: \"\": must not be empty"));
}

TEST(JobStatus, WithoutManagedByOnlyTheBasicsAreChecked) {
  EXPECT_THAT(JobKind()
                  .Gates("JobManagedBy=false")
                  .StatusErrors(JobWith("", kStarted), R"({"failed":-1,)" + Conditions({"Failed"}) + "}"),
              ElementsAre("status.failed: Invalid value: -1: must be greater than or equal to 0"));
}

TEST(JobStatus, ABrokenStatusCanBeWrittenWhereItIsNotTouched) {
  const std::string broken = R"({"active":1,"ready":5,"succeeded":1})";
  EXPECT_THAT(JobKind().StatusErrors(JobWith("", broken), R"({"succeeded":2})"), IsEmpty());
  EXPECT_THAT(JobKind().StatusErrors(JobWith("", broken), R"({"ready":6})"),
              ElementsAre("status.ready: Invalid value: 6: cannot set more ready pods than active"));
}

}  // namespace
}  // namespace terrarium::apiserver
