#include "controllers/cronjob/internal/job_template.h"

#include <gtest/gtest.h>

#include "controllers/cronjob/internal/cron_spec.h"
#include "controllers/cronjob/internal/cron_status.h"
#include "tests/controllers/runtime/fake_client.h"

namespace terrarium::controllers::cronjob {
namespace {

using api::Json;

const api::Time kScheduled{std::chrono::seconds(1'767'225'630)};  // 2026-01-01T00:00:30Z

Json CronJob() {
  return {{"metadata", {{"name", "c"}, {"namespace", "default"}, {"uid", "u"}}},
          {"spec",
           {{"schedule", "@daily"},
            {"jobTemplate",
             {{"metadata", {{"labels", {{"a", "b"}}}, {"annotations", {{"x", "y"}}}}},
              {"spec", {{"parallelism", 2}}}}}}}};
}

TEST(JobTemplate, TheJobIsNamedByItsMinute) {
  EXPECT_EQ(JobNameOf("c", kScheduled), "c-29453760");
  EXPECT_EQ(JobNameOf("c", kScheduled + std::chrono::seconds(29)), "c-29453760");
  EXPECT_EQ(JobNameOf("c", kScheduled + std::chrono::seconds(30)), "c-29453761");
}

TEST(JobTemplate, TheJobHasItsTemplateItsOwnerAndTheScheduledTimeInItsZone) {
  const Json cron_job = CronJob();
  const Json job = JobOf(*controllers_testing::MakeObject(cron_job), cron_job, kScheduled,
                         *api::TimeZone::Load("Europe/Berlin"));
  EXPECT_EQ(job, Json({{"metadata",
                        {{"name", "c-29453760"},
                         {"labels", {{"a", "b"}}},
                         {"annotations",
                          {{"x", "y"},
                           {"batch.kubernetes.io/cronjob-scheduled-timestamp", "2026-01-01T01:00:30+01:00"}}},
                         {"ownerReferences",
                          {{{"apiVersion", "batch/v1"},
                            {"kind", "CronJob"},
                            {"name", "c"},
                            {"uid", "u"},
                            {"controller", true},
                            {"blockOwnerDeletion", true}}}}}},
                       {"spec", {{"parallelism", 2}}}}));
}

TEST(CronSpec, AZoneInTheScheduleHasPrecedenceOverTheTimeZone) {
  Json document = CronJob();
  const auto next = [&] { return ScheduleOf(ReadCronSpec(document)).schedule->Next(kScheduled); };
  EXPECT_EQ(api::FormatTime(*next()), "2026-01-02T00:00:00Z");
  document["spec"]["timeZone"] = "Asia/Tokyo";
  EXPECT_EQ(api::FormatTime(*next()), "2026-01-01T15:00:00Z");
  document["spec"]["schedule"] = "TZ=America/New_York @daily";
  EXPECT_EQ(api::FormatTime(*next()), "2026-01-01T05:00:00Z");
  document["spec"]["schedule"] = "TZ=Nowhere @daily";
  EXPECT_EQ(ScheduleOf(ReadCronSpec(document)).error,
            "provided bad location Nowhere: unknown time zone Nowhere");
}

TEST(CronSpec, ReadsWhatIsSetAndLeavesTheRestOut) {
  const CronSpec none = ReadCronSpec(CronJob());
  EXPECT_EQ(none.starting_deadline, std::nullopt);
  EXPECT_EQ(none.successful_limit, std::nullopt);
  Json document = CronJob();
  document["spec"].update({{"suspend", true},
                           {"concurrencyPolicy", "Replace"},
                           {"startingDeadlineSeconds", 9'000'000'000'000'000'000},
                           {"successfulJobsHistoryLimit", 0},
                           {"failedJobsHistoryLimit", 7}});
  const CronSpec all = ReadCronSpec(document);
  EXPECT_TRUE(all.suspended);
  EXPECT_EQ(all.policy, ConcurrencyPolicy::kReplace);
  EXPECT_GT(*all.starting_deadline, std::chrono::years(900));
  EXPECT_EQ(all.successful_limit, 0);
  EXPECT_EQ(all.failed_limit, 7);
}

TEST(CronStatus, TheListOfActiveJobsIsAbsentWhenItIsEmpty) {
  CronStatus status(Json::object());
  const api::ObjectPtr job = controllers_testing::MakeObject(
      {{"metadata", {{"name", "j"}, {"namespace", "default"}, {"uid", "ju"}}}}, 7);
  status.AddActive(*job);
  EXPECT_TRUE(status.IsActive("ju"));
  EXPECT_TRUE(status.IsActive(api::ObjectName{"default", "j"}));
  EXPECT_EQ(status.json()["active"][0], Json({{"apiVersion", "batch/v1"},
                                              {"kind", "Job"},
                                              {"name", "j"},
                                              {"namespace", "default"},
                                              {"resourceVersion", "7"},
                                              {"uid", "ju"}}));
  status.RemoveActive("other");
  EXPECT_TRUE(status.IsActive("ju"));
  status.RemoveActive("ju");
  EXPECT_EQ(status.json(), Json::object());
}

// A list of this length fits into an object. Rewriting it for each removed Job takes minutes.
TEST(CronStatus, ManyJobsAreRemovedInOnePass) {
  constexpr int kJobs = 15'000;
  Json active = Json::array();
  for (int i = 0; i < kJobs; ++i)
    active.push_back({{"namespace", "default"}, {"name", "j"}, {"uid", "u" + std::to_string(i)}});
  CronStatus status(Json{{"status", {{"active", std::move(active)}}}});
  for (int i = 1; i < kJobs; ++i) {
    EXPECT_TRUE(status.IsActive("u" + std::to_string(i)));
    status.RemoveActive("u" + std::to_string(i));
  }
  EXPECT_EQ(status.active_count(), 1U);
  ASSERT_EQ(status.active().size(), 1U);
  EXPECT_EQ(status.active()[0].uid, "u0");
  EXPECT_EQ(status.json()["active"].size(), 1U);
}

TEST(CronStatus, TheLatestSuccessCounts) {
  CronStatus status(Json::object());
  status.JobSucceeded(kScheduled);
  status.JobSucceeded(kScheduled - std::chrono::hours(1));
  EXPECT_EQ(status.json()["lastSuccessfulTime"], "2026-01-01T00:00:30Z");
  status.JobSucceeded(kScheduled + std::chrono::hours(1));
  EXPECT_EQ(status.json()["lastSuccessfulTime"], "2026-01-01T01:00:30Z");
}

}  // namespace
}  // namespace terrarium::controllers::cronjob
