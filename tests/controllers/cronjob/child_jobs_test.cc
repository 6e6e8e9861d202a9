#include "controllers/cronjob/internal/child_jobs.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/controllers/runtime/fake_client.h"

namespace terrarium::controllers::cronjob {
namespace {

using api::Json;
using End = ChildJob::End;

const api::Time kStart{std::chrono::seconds(1'767'225'600)};

ChildJob Job(const char* name, End end, std::optional<int> started) {
  ChildJob job{.name = {"default", name}, .uid = name, .end = end, .start_time = {}, .completion_time = {}};
  if (started) job.start_time = kStart + std::chrono::seconds(*started);
  return job;
}

std::string Surplus(const std::vector<ChildJob>& jobs, std::optional<int> successful,
                    std::optional<int> failed) {
  CronSpec spec;
  spec.successful_limit = successful;
  spec.failed_limit = failed;
  std::string names;
  for (const cronjob::Surplus& surplus : SurplusJobs(jobs, spec))
    names += (names.empty() ? "" : " ") + surplus.job->name.name;
  return names;
}

TEST(SurplusJobs, AreTheOldestOfEachKind) {
  const std::vector<ChildJob> jobs = {Job("a", End::kComplete, 30), Job("b", End::kFailed, 20),
                                      Job("c", End::kComplete, 10), Job("d", End::kNone, 0),
                                      Job("e", End::kFailed, 5),    Job("f", End::kComplete, 20)};
  EXPECT_EQ(Surplus(jobs, 3, 1), "e");
  EXPECT_EQ(Surplus(jobs, 1, 1), "c f e");
  EXPECT_EQ(Surplus(jobs, 0, 0), "c f a e b");
  EXPECT_EQ(Surplus(jobs, {}, 0), "e b");
  EXPECT_EQ(Surplus(jobs, {}, {}), "");
}

TEST(SurplusJobs, NamesDecideBetweenEqualTimesAndJobsWithoutAStartAreNewest) {
  const std::vector<ChildJob> jobs = {Job("b", End::kComplete, {}), Job("a", End::kComplete, {}),
                                      Job("d", End::kComplete, 7), Job("c", End::kComplete, 7)};
  EXPECT_EQ(Surplus(jobs, 0, 0), "c d a b");
}

TEST(ChildJobs, TheEndIsThatOfTheTrueCondition) {
  const auto read = [](const Json& conditions) {
    return ReadChildJob(*controllers_testing::MakeObject(
        {{"metadata", {{"name", "j"}, {"namespace", "default"}, {"uid", "u"}}},
         {"status", {{"conditions", conditions}, {"startTime", "2026-01-01T00:00:00Z"}}}}));
  };
  const auto condition = [](const char* type, const char* status) {
    return Json{{"type", type}, {"status", status}};
  };
  EXPECT_EQ(read(Json::array()).end, End::kNone);
  EXPECT_EQ(read({condition("SuccessCriteriaMet", "True"), condition("Complete", "True")}).end,
            End::kComplete);
  EXPECT_EQ(read({condition("FailureTarget", "True"), condition("Failed", "True")}).end, End::kFailed);
  EXPECT_EQ(read(Json::array({condition("Complete", "False")})).end, End::kNone);
  EXPECT_EQ(read(Json::array({condition("FailureTarget", "True")})).end, End::kNone);
  EXPECT_EQ(read(Json::array()).start_time, kStart);
  EXPECT_EQ(read(Json::array()).completion_time, std::nullopt);
}

}  // namespace
}  // namespace terrarium::controllers::cronjob
