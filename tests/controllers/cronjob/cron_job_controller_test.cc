// CronJobs in a whole cluster.

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_access.h"
#include "controllers/runtime/why.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ObjectPtr;
using testbed::RunOutcome;
using testbed::Testbed;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace std::chrono_literals;

// The clock starts at 2026-01-01T00:00:00Z, a Thursday. That is the minute 29453760 since the epoch.
class CronJobs : public ::testing::Test {
 protected:
  // `spec` is merged over a CronJob whose pods run for `run_for` and then exit with `exit_code`.
  void Create(const Json& spec, const char* run_for = "10s", int exit_code = 0) {
    Json pod = {
        {"metadata",
         {{"annotations",
           {{"terrarium.dev/run-for", run_for}, {"terrarium.dev/exit-code", std::to_string(exit_code)}}}}},
        {"spec", {{"restartPolicy", "Never"}, {"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
    Json cron_job = {{"metadata", {{"name", "c"}}},
                     {"spec",
                      {{"schedule", "*/5 * * * *"},
                       {"jobTemplate", {{"spec", {{"template", pod}, {"backoffLimit", 0}}}}}}}};
    if (spec.is_object()) cron_job["spec"].update(spec);
    Testbed::Must(bed_.Create("cronjobs", "default", cron_job));
  }
  void Patch(const Json& spec) { Testbed::Must(bed_.Patch("cronjobs", {"default", "c"}, {{"spec", spec}})); }
  Json Status() {
    const Json document = bed_.Get("cronjobs", "default", "c")->Parse();
    return api::ObjectAt(document, "status");
  }
  std::vector<std::string> Active() {
    std::vector<std::string> names;
    const Json status = Status();
    for (const Json& job : api::ListAt(status, "active")) names.emplace_back(api::StringAt(job, "name"));
    return names;
  }
  std::vector<std::string> Jobs() {
    std::vector<std::string> names;
    for (const ObjectPtr& job : bed_.List("jobs", "default")) names.push_back(job->header().name);
    return names;
  }
  // "reason: message" of the Events about the CronJob.
  std::vector<std::string> Events() {
    std::vector<std::string> texts;
    for (const testbed::EventView& event : bed_.Events("CronJob", "c"))
      texts.push_back(std::string(event.reason()) + ": " + std::string(event.message()));
    return texts;
  }
  void Pass(api::Duration duration) { bed_.clock().Advance(duration); }

  Testbed bed_{{.nodes = 1}};
};

TEST_F(CronJobs, RunsAtEachScheduledTime) {
  Create({});
  Pass(5min);
  EXPECT_THAT(Jobs(), IsEmpty());
  Pass(1s);
  EXPECT_THAT(Jobs(), ElementsAre("c-29453765"));
  EXPECT_THAT(Active(), ElementsAre("c-29453765"));
  EXPECT_EQ(Status()["lastScheduleTime"], "2026-01-01T00:05:00Z");
  const Json job = bed_.Get("jobs", "default", "c-29453765")->Parse();
  EXPECT_EQ(job["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"],
            "2026-01-01T00:05:00Z");
  EXPECT_EQ(job["metadata"]["ownerReferences"][0]["kind"], "CronJob");
  Pass(30s);
  EXPECT_THAT(Active(), IsEmpty());
  EXPECT_EQ(Status()["lastSuccessfulTime"],
            api::StringAt(bed_.Get("jobs", "default", "c-29453765")->Parse(), "status", "completionTime"));
  Pass(10min);
  EXPECT_THAT(Jobs(), ElementsAre("c-29453765", "c-29453770", "c-29453775"));
  EXPECT_THAT(Events(), ElementsAre("SuccessfulCreate: Created job c-29453765",
                                    "SawCompletedJob: Saw completed job: c-29453765, condition: Complete",
                                    "SuccessfulCreate: Created job c-29453770",
                                    "SawCompletedJob: Saw completed job: c-29453770, condition: Complete",
                                    "SuccessfulCreate: Created job c-29453775",
                                    "SawCompletedJob: Saw completed job: c-29453775, condition: Complete"));
}

TEST_F(CronJobs, AClusterWhoseCronJobsOnlyWaitIsIdle) {
  Create({});
  const api::Time created = bed_.Now();
  RunOutcome outcome = bed_.clock().RunUntilIdle(24h);
  EXPECT_EQ(outcome.why, RunOutcome::Why::kIdle);
  EXPECT_EQ(outcome.now, created);
  Pass(5min + 1s);
  // A Job that runs is work.
  outcome = bed_.clock().RunUntilIdle(1h);
  EXPECT_EQ(outcome.why, RunOutcome::Why::kIdle);
  EXPECT_LT(outcome.now, created + 6min);
  EXPECT_THAT(Active(), IsEmpty());
}

TEST_F(CronJobs, TheHistoryLimitsDeleteOldJobsWithTheirPods) {
  Create({{"successfulJobsHistoryLimit", 2}});
  Pass(21min);
  EXPECT_THAT(Jobs(), ElementsAre("c-29453775", "c-29453780"));
  EXPECT_EQ(bed_.List("pods", "default").size(), 2u);
  EXPECT_THAT(Events(), Contains("SuccessfulDelete: Deleted job c-29453765"));
  EXPECT_THAT(Events(), Not(Contains(::testing::HasSubstr("FailedDelete"))));
  Patch({{"successfulJobsHistoryLimit", 0}});
  Pass(0s);
  EXPECT_THAT(Jobs(), IsEmpty());
}

TEST_F(CronJobs, FailedJobsHaveALimitOfTheirOwn) {
  Create({{"successfulJobsHistoryLimit", 0}}, "10s", 1);
  Pass(16min);
  EXPECT_THAT(Jobs(), ElementsAre("c-29453775"));  // the default of failedJobsHistoryLimit is 1
  EXPECT_THAT(Events(), Contains("SawCompletedJob: Saw completed job: c-29453765, condition: Failed"));
  EXPECT_FALSE(Status().contains("lastSuccessfulTime"));
}

TEST_F(CronJobs, AllowRunsJobsBesideEachOther) {
  Create({}, "12m");
  Pass(11min);
  EXPECT_THAT(Active(), ElementsAre("c-29453765", "c-29453770"));
}

TEST_F(CronJobs, ForbidSkipsRunsAndStartsTheNewestMissedOneWhenTheJobEnds) {
  Create({{"concurrencyPolicy", "Forbid"}}, "12m");
  Pass(16min);
  EXPECT_THAT(Active(), ElementsAre("c-29453765"));
  EXPECT_THAT(Events(), Contains("JobAlreadyActive: Not starting job because prior execution is running and "
                                 "concurrency policy is Forbid"));
  Pass(2min);  // the first one ends at 00:17
  EXPECT_THAT(Active(), ElementsAre("c-29453775"));
}

TEST_F(CronJobs, ForbidWithADeadlineStartsNoRunThatIsTooLate) {
  Create({{"concurrencyPolicy", "Forbid"}, {"startingDeadlineSeconds", 60}}, "12m");
  Pass(19min);
  EXPECT_THAT(Active(), IsEmpty());
  Pass(2min);
  EXPECT_THAT(Active(), ElementsAre("c-29453780"));
}

TEST_F(CronJobs, ReplaceDeletesTheJobThatRuns) {
  Create({{"concurrencyPolicy", "Replace"}}, "12m");
  Pass(11min);
  EXPECT_THAT(Active(), ElementsAre("c-29453770"));
  EXPECT_THAT(Jobs(), ElementsAre("c-29453770"));
  EXPECT_THAT(Events(), Contains("SuccessfulDelete: Deleted job c-29453765"));
  const std::vector<WhyRecord> records = bed_.why().Find("jobs", {"default", "c-29453765"});
  ASSERT_EQ(records.size(), 3u);  // created; its pod; deleted
  EXPECT_EQ(records.back().action, "delete");
  EXPECT_EQ(records.back().rule, "concurrencyPolicy is Replace, and the next run is due");
}

TEST_F(CronJobs, ASuspendedCronJobStartsNothingAndCatchesUpWithOneRun) {
  Create({{"suspend", true}});
  Pass(28min);
  EXPECT_THAT(Jobs(), IsEmpty());
  Patch({{"suspend", false}});
  Pass(30s);
  EXPECT_THAT(Jobs(), ElementsAre("c-29453785"));
}

TEST_F(CronJobs, AfterALongPauseTheNewestRunStartsWithAWarning) {
  Create({{"schedule", "* * * * *"}});
  Testbed::Must(bed_.Stop("controller-manager"));
  Pass(101min + 30s);
  Testbed::Must(bed_.Start("controller-manager"));
  Pass(10s);
  EXPECT_THAT(Jobs(), ElementsAre("c-29453861"));
  EXPECT_THAT(Events(), Contains("TooManyMissedTimes: too many missed start times. Set or decrease "
                                 ".spec.startingDeadlineSeconds or check clock skew"));
}

TEST_F(CronJobs, ARunThatIsLaterThanItsDeadlineIsMissed) {
  Create({{"startingDeadlineSeconds", 20}});
  Testbed::Must(bed_.Stop("controller-manager"));
  Pass(5min + 30s);
  Testbed::Must(bed_.Start("controller-manager"));
  Pass(10s);
  EXPECT_THAT(Jobs(), IsEmpty());
  Pass(5min);
  EXPECT_THAT(Jobs(), ElementsAre("c-29453770"));
}

TEST_F(CronJobs, TheTimeZoneDecidesAndIsInTheAnnotation) {
  Create({{"schedule", "30 6 * * *"}, {"timeZone", "Asia/Kathmandu"}});
  Pass(46min);  // 06:30 in Nepal is 00:45 in UTC
  ASSERT_THAT(Jobs(), ElementsAre("c-29453805"));
  const Json job = bed_.Get("jobs", "default", "c-29453805")->Parse();
  EXPECT_EQ(job["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"],
            "2026-01-01T06:30:00+05:45");
}

TEST_F(CronJobs, AJobThatAUserStartsByHandCountsAsOneOfTheHistory) {
  Create({{"schedule", "0 0 1 1 *"}, {"successfulJobsHistoryLimit", 1}});
  const ObjectPtr cron_job = bed_.Get("cronjobs", "default", "c");
  // As kubectl create job --from=cronjob/c does.
  for (const char* name : {"by-hand", "by-hand-again"}) {
    Testbed::Must(bed_.Create("jobs", "default",
                              {{"metadata",
                                {{"name", name},
                                 {"annotations", {{"cronjob.kubernetes.io/instantiate", "manual"}}},
                                 {"ownerReferences",
                                  {{{"apiVersion", "batch/v1"},
                                    {"kind", "CronJob"},
                                    {"name", "c"},
                                    {"uid", cron_job->header().uid},
                                    {"controller", true}}}}}},
                               {"spec", cron_job->Parse()["spec"]["jobTemplate"]["spec"]}}));
    Pass(30s);
    EXPECT_THAT(Active(), IsEmpty());
  }
  EXPECT_THAT(Jobs(), ElementsAre("by-hand-again"));
  EXPECT_TRUE(Status().contains("lastSuccessfulTime"));
  EXPECT_THAT(Events(),
              Contains("UnexpectedJob: Saw a job that the controller did not create or forgot: by-hand"));
}

TEST_F(CronJobs, ADeletedCronJobTakesItsJobsAlong) {
  Create({}, "12m");
  Pass(6min);
  Testbed::Must(bed_.Delete("cronjobs", {"default", "c"}));
  Pass(1min);
  EXPECT_THAT(Jobs(), IsEmpty());
  Pass(1h);
  EXPECT_THAT(Jobs(), IsEmpty());
}

TEST_F(CronJobs, EachJobIsExplained) {
  Create({{"timeZone", "Europe/Berlin"}});
  Pass(6min);
  const std::vector<WhyRecord> records = bed_.why().Find("cronjobs", {"default", "c"});
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].controller, "cronjob-controller");
  EXPECT_EQ(records[0].action, "create");
  EXPECT_EQ(records[0].object.name, "c-29453765");
  EXPECT_EQ(records[0].rule, "scheduled for 2026-01-01T00:05:00Z");
  EXPECT_EQ(*records[0].saw, Json({{"schedule", "*/5 * * * *"},
                                   {"timeZone", "Europe/Berlin"},
                                   {"concurrencyPolicy", "Allow"},
                                   {"active", 0},
                                   {"missed", 0}}));
}

// Whatever write the controller-manager crashes at, each run has one Job.
TEST(CronJobCrashes, NoRunIsLostOrStartedTwice) {
  for (int write = 1; write <= 5; ++write) {
    for (auto moment : {Testbed::CrashMoment::kBeforeWrite, Testbed::CrashMoment::kAfterWrite}) {
      SCOPED_TRACE(write);
      Testbed bed({.seed = static_cast<std::uint64_t>(write), .nodes = 1, .quiet = true});
      Json pod = {{"metadata", {{"annotations", {{"terrarium.dev/run-for", "10s"}}}}},
                  {"spec", {{"restartPolicy", "Never"}, {"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
      Testbed::Must(bed.Create("cronjobs", "default",
                               {{"metadata", {{"name", "c"}}},
                                {"spec",
                                 {{"schedule", "*/5 * * * *"},
                                  {"successfulJobsHistoryLimit", 10},
                                  {"jobTemplate", {{"spec", {{"template", pod}}}}}}}}));
      bed.clock().Advance(4min);
      bed.CrashAtWrite("controller-manager", write, moment);
      bed.clock().Advance(2min);
      ASSERT_FALSE(bed.IsRunning("controller-manager"));
      Testbed::Must(bed.Start("controller-manager"));
      bed.clock().Advance(5min);
      std::vector<std::string> jobs;
      for (const ObjectPtr& job : bed.List("jobs", "default")) jobs.push_back(job->header().name);
      EXPECT_THAT(jobs, ElementsAre("c-29453765", "c-29453770"));
      const Json status = bed.Get("cronjobs", "default", "c")->Parse()["status"];
      EXPECT_EQ(status["lastScheduleTime"], "2026-01-01T00:10:00Z");
      EXPECT_FALSE(status.contains("active"));
    }
  }
}

}  // namespace
}  // namespace terrarium::controllers
