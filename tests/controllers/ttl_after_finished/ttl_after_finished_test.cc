// Finished Jobs in a whole cluster.

#include <optional>
#include <string>
#include <vector>

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
using namespace std::chrono_literals;

// Jobs finish when the test ends them.
class TtlAfterFinished : public ::testing::Test {
 protected:
  void CreateJob(std::optional<int> ttl) {
    Json job = {
        {"metadata", {{"name", "pi"}}},
        {"spec",
         {{"template",
           {{"spec", {{"restartPolicy", "Never"}, {"containers", {{{"name", "c"}, {"image", "i"}}}}}}}}}}};
    if (ttl) job["spec"]["ttlSecondsAfterFinished"] = *ttl;
    Testbed::Must(bed_.Create("jobs", "default", job));
  }
  ObjectPtr Job() { return bed_.Get("jobs", "default", "pi"); }

  void Finish(const char* interim, const char* type) {
    const std::string now = api::FormatTime(bed_.Now());
    Json conditions = Json::array();
    for (const char* condition : {interim, type})
      conditions.push_back(
          {{"type", condition}, {"status", "True"}, {"reason", "Test"}, {"lastTransitionTime", now}});
    Json job = Job()->Parse();
    job["status"] = {{"startTime", now}, {"conditions", conditions}};
    if (type == std::string("Complete")) job["status"]["completionTime"] = now;
    Testbed::Must(bed_.Update("jobs", job, "status"));
  }
  void Complete() { Finish("SuccessCriteriaMet", "Complete"); }
  void SetTtl(const Json& seconds) {
    Testbed::Must(bed_.Patch("jobs", {"default", "pi"}, {{"spec", {{"ttlSecondsAfterFinished", seconds}}}}));
  }

  Testbed bed_{{.controllers = "ttl-after-finished-controller,garbage-collector-controller",
                .kubelet = false,
                .scheduler = false,
                .nodes = 0}};
};

TEST_F(TtlAfterFinished, ACompleteJobIsDeletedExactlyWhenItsTimeIsOver) {
  CreateJob(100);
  Complete();
  bed_.clock().Advance(99'999'999us);
  EXPECT_NE(Job(), nullptr);
  bed_.clock().Advance(1us);
  EXPECT_EQ(Job(), nullptr);
}

TEST_F(TtlAfterFinished, AFailedJobIsDeletedExactlyWhenItsTimeIsOver) {
  CreateJob(100);
  Finish("FailureTarget", "Failed");
  bed_.clock().Advance(99s);
  EXPECT_NE(Job(), nullptr);
  bed_.clock().Advance(1s);
  EXPECT_EQ(Job(), nullptr);
}

TEST_F(TtlAfterFinished, WithATimeToLiveOfZeroAJobIsDeletedImmediately) {
  CreateJob(0);
  Complete();
  bed_.clock().Settle();
  EXPECT_EQ(Job(), nullptr);
}

TEST_F(TtlAfterFinished, TheClusterIsNotIdleBefore) {
  CreateJob(3600);
  Complete();
  const api::Time finished = bed_.Now();
  RunOutcome outcome = bed_.clock().RunUntilIdle(2h);
  EXPECT_EQ(outcome.why, RunOutcome::Why::kIdle);
  EXPECT_EQ(outcome.now, finished + 1h);
  EXPECT_EQ(Job(), nullptr);
}

TEST_F(TtlAfterFinished, UnfinishedJobsAndThoseWithoutTimeToLiveAreKeptAndNotWaitedFor) {
  CreateJob(100);
  const api::Time began = bed_.Now();
  EXPECT_EQ(bed_.clock().RunUntilIdle(1h).now, began);
  SetTtl(nullptr);
  Complete();
  EXPECT_EQ(bed_.clock().RunUntilIdle(1h).now, began);
  bed_.clock().Advance(24h);
  EXPECT_NE(Job(), nullptr);
}

TEST_F(TtlAfterFinished, AnExtendedTimeToLiveIsObeyed) {
  CreateJob(100);
  Complete();
  bed_.clock().Advance(99s);
  SetTtl(200);
  bed_.clock().Advance(100s);
  EXPECT_NE(Job(), nullptr);
  bed_.clock().Advance(1s);
  EXPECT_EQ(Job(), nullptr);
}

TEST_F(TtlAfterFinished, AShortenedTimeToLiveThatIsOverDeletesImmediately) {
  CreateJob(1000);
  Complete();
  bed_.clock().Advance(60s);
  SetTtl(50);
  bed_.clock().Settle();
  EXPECT_EQ(Job(), nullptr);
}

TEST_F(TtlAfterFinished, ARemovedTimeToLiveKeepsTheJobAndIsNotWaitedFor) {
  CreateJob(100);
  Complete();
  bed_.clock().Advance(60s);
  SetTtl(nullptr);
  bed_.clock().Settle();
  const api::Time taken_away = bed_.Now();
  EXPECT_EQ(bed_.clock().RunUntilIdle(1h).now, taken_away);
  bed_.clock().Advance(1h);
  EXPECT_NE(Job(), nullptr);
}

TEST_F(TtlAfterFinished, ATimeToLiveSetLaterCountsFromTheFinish) {
  CreateJob(std::nullopt);
  Complete();
  bed_.clock().Advance(60s);
  SetTtl(90);
  bed_.clock().Advance(29s);
  EXPECT_NE(Job(), nullptr);
  bed_.clock().Advance(1s);
  EXPECT_EQ(Job(), nullptr);
}

TEST_F(TtlAfterFinished, ThePodsAreDeletedBeforeTheJob) {
  CreateJob(100);
  Json pod = {{"metadata",
               {{"name", "pi-abcde"},
                {"finalizers", {"example.com/held"}},
                {"ownerReferences",
                 {{{"apiVersion", "batch/v1"},
                   {"kind", "Job"},
                   {"name", "pi"},
                   {"uid", Job()->header().uid},
                   {"controller", true},
                   {"blockOwnerDeletion", true}}}}}},
              {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
  Testbed::Must(bed_.Create("pods", "default", pod));
  Complete();
  bed_.clock().Advance(100s);
  ASSERT_NE(Job(), nullptr);
  EXPECT_TRUE(Job()->header().deleting);
  EXPECT_EQ(api::ListAt(*Job()->Document(), "metadata", "finalizers"), Json::array({"foregroundDeletion"}));
  ASSERT_NE(bed_.Get("pods", "default", "pi-abcde"), nullptr);
  EXPECT_TRUE(bed_.Get("pods", "default", "pi-abcde")->header().deleting);
  Testbed::Must(bed_.Patch("pods", {"default", "pi-abcde"}, {{"metadata", {{"finalizers", nullptr}}}}));
  bed_.clock().Advance(1min);
  EXPECT_EQ(Job(), nullptr);
}

TEST_F(TtlAfterFinished, TheDeletionIsExplained) {
  CreateJob(100);
  Complete();
  bed_.clock().Advance(100s);
  const std::vector<WhyRecord> records = bed_.why().Find("jobs", {"default", "pi"});
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].controller, "ttl-after-finished-controller");
  EXPECT_EQ(records[0].action, "delete");
  EXPECT_EQ((*records[0].saw)["ttlSecondsAfterFinished"], 100);
}

// With the Job controller and pods that end by themselves.
TEST(TtlAfterFinishedJobs, AJobThatRunsToItsEndLeavesNothingBehind) {
  Testbed bed({.nodes = 1});
  Json job = {
      {"metadata", {{"name", "pi"}}},
      {"spec",
       {{"completions", 3},
        {"ttlSecondsAfterFinished", 60},
        {"template",
         {{"metadata", {{"annotations", {{"terrarium.dev/run-for", "5s"}}}}},
          {"spec", {{"restartPolicy", "Never"}, {"containers", {{{"name", "c"}, {"image", "i"}}}}}}}}}}};
  Testbed::Must(bed.Create("jobs", "default", job));
  ObjectPtr seen;
  auto complete = [&] {
    seen = bed.Get("jobs", "default", "pi");
    return seen != nullptr && api::Find(*seen->Document(), "status", "completionTime") != nullptr;
  };
  ASSERT_EQ(bed.clock().RunUntil(complete, 10min).why, RunOutcome::Why::kDone);
  EXPECT_EQ(bed.List("pods", "default").size(), 3u);
  bed.clock().Advance(58s);
  EXPECT_NE(bed.Get("jobs", "default", "pi"), nullptr);
  bed.clock().Advance(10s);
  EXPECT_EQ(bed.Get("jobs", "default", "pi"), nullptr);
  EXPECT_TRUE(bed.List("pods", "default").empty());
}

}  // namespace
}  // namespace terrarium::controllers
