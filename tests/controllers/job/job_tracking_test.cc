// Every pod is counted exactly once: whatever write is the last before a crash, whatever fails, however old the view.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "api/base/errors.h"
#include "tests/controllers/job/job_plane.h"

namespace terrarium::controllers::job {
namespace {

using namespace std::chrono_literals;
using api::ObjectPtr;
using testing::JobPlane;
using testing::Json;
using Strings = std::vector<std::string>;
using Verb = api::WriteRequest::Verb;

bool IsCreate(const api::WriteRequest& request) { return request.verb == Verb::kCreate && request.resource == "pods"; }
bool IsStatus(const api::WriteRequest& request) { return request.resource == "jobs"; }
bool IsPatch(const api::WriteRequest& request) { return request.verb == Verb::kPatch && request.resource == "pods"; }
bool IsDelete(const api::WriteRequest& request) { return request.verb == Verb::kDelete; }

// Refuses the next `times` writes of a kind.
void Refuse(JobPlane& plane, bool (*which)(const api::WriteRequest&), int times, api::Status with) {
  auto left = std::make_shared<int>(times);
  plane.client().refuse = [which, left, with](const api::WriteRequest& request) -> std::optional<api::Status> {
    if (!which(request) || *left == 0) return std::nullopt;
    --*left;
    return with;
  };
}

struct Story {
  const char* name;
  std::function<void(JobPlane&)> begin;
  const char* counts;
  const char* conditions;
};

const Story kStories[] = {
    {"three completions, two at a time",
     [](JobPlane& plane) { plane.AddJob({{"completions", 3}, {"parallelism", 2}}, {{"run-for", "5s"}}); },
     "ready 0 terminating 0 succeeded 3", "SuccessCriteriaMet(CompletionsReached) Complete(CompletionsReached)"},
    {"a Job whose pods all fail",
     [](JobPlane& plane) { plane.AddJob({{"backoffLimit", 2}}, {{"run-for", "5s"}, {"exit-code", "1"}}); },
     "ready 0 terminating 0 failed 3", "FailureTarget(BackoffLimitExceeded) Failed(BackoffLimitExceeded)"},
    {"an index that fails for good",
     [](JobPlane& plane) {
       plane.Script("batch.kubernetes.io/job-completion-index=1", {{"run-for", "5s"}, {"exit-code", 1}});
       plane.Script("batch.kubernetes.io/job-completion-index!=1", {{"run-for", "7s"}});
       plane.AddJob(
           {{"completions", 3}, {"parallelism", 3}, {"completionMode", "Indexed"}, {"backoffLimitPerIndex", 1}});
     },
     "ready 0 terminating 0 succeeded 2 failed 2", "FailureTarget(FailedIndexes) Failed(FailedIndexes)"},
    {"a deadline, with pods that are slow to stop",
     [](JobPlane& plane) {
       plane.AddJob({{"completions", 2}, {"parallelism", 2}, {"activeDeadlineSeconds", 20},
                     {"podReplacementPolicy", "Failed"}},
                    {{"stop-after", "10s"}});
     },
     "ready 0 terminating 0 failed 2", "FailureTarget(DeadlineExceeded) Failed(DeadlineExceeded)"},
    {"a success policy",
     [](JobPlane& plane) {
       plane.Script("batch.kubernetes.io/job-completion-index=0", {{"run-for", "5s"}});
       plane.AddJob({{"completions", 3},
                     {"parallelism", 3},
                     {"completionMode", "Indexed"},
                     {"podReplacementPolicy", "Failed"},
                     {"successPolicy", {{"rules", {{{"succeededIndexes", "0"}}}}}}},
                    {{"stop-after", "5s"}});
     },
     "ready 0 terminating 0 succeeded 1", "SuccessCriteriaMet(SuccessPolicy) Complete(SuccessPolicy)"},
};

class JobStories : public ::testing::TestWithParam<Story> {};

TEST_P(JobStories, EndTheSameWithACrashAtAnyWrite) {
  const Story& story = GetParam();
  int writes = 0;
  {
    JobPlane plane({.controllers = testing::kFewControllers, .nodes = 1});
    story.begin(plane);
    plane.Idle();
    EXPECT_EQ(plane.Counts(), story.counts);
    EXPECT_EQ(plane.Conditions(), story.conditions);
    writes = static_cast<int>(plane.client().writes.size());
  }
  for (int nth = 1; nth <= writes; ++nth) {
    for (bool arrives : {true, false}) {
      SCOPED_TRACE("crash at write " + std::to_string(nth) + (arrives ? ", which arrives" : ", which is lost"));
      JobPlane plane({.controllers = testing::kFewControllers, .nodes = 1});
      plane.CrashAt(nth, arrives);
      story.begin(plane);
      plane.Idle();
      EXPECT_EQ(plane.crashes(), 1);
      EXPECT_EQ(plane.Counts(), story.counts);
      EXPECT_EQ(plane.Conditions(), story.conditions);
      EXPECT_EQ(plane.FinalizersLeft(), 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, JobStories, ::testing::ValuesIn(kStories),
                         [](const auto& info) { return "Story" + std::to_string(info.index); });

TEST(JobTracking, UidsAreInTheStatusWhileTheirFinalizersAreOn) {
  JobPlane plane;
  plane.AddJob({{"completions", 2}, {"parallelism", 2}});
  plane.Pass(5s);
  const Strings pods = plane.ActivePods();
  const std::string succeeded = plane.bed().Get("pods", "default", pods[0])->header().uid;
  const std::string failed = plane.bed().Get("pods", "default", pods[1])->header().uid;
  plane.EndPod(pods[0], 0);
  plane.EndPod(pods[1], 1);
  Refuse(plane, IsPatch, 2, api::ServiceUnavailable("away"));
  plane.Pass(1s);
  EXPECT_EQ(plane.Status()["uncountedTerminatedPods"],
            (Json{{"succeeded", {succeeded}}, {"failed", {failed}}}));
  EXPECT_EQ(plane.Counts(), "active 1 ready 0 terminating 0") << "not in the counters yet";
  EXPECT_EQ(plane.FinalizersLeft(), 3);
  plane.Pass(2s);
  EXPECT_EQ(plane.Status()["uncountedTerminatedPods"], Json::object());
  EXPECT_EQ(plane.Counts(), "active 1 ready 1 terminating 0 succeeded 1 failed 1");
}

TEST(JobTracking, WhatCouldBeDoneIsCountedWhenOneFinalizerWouldNotComeOff) {
  JobPlane plane;
  plane.AddJob({{"completions", 3}, {"parallelism", 3}});
  plane.Pass(5s);
  for (const std::string& pod : plane.ActivePods()) plane.EndPod(pod, 0);
  Refuse(plane, IsPatch, 1, api::ServiceUnavailable("away"));
  plane.Pass(1s);
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 succeeded 2");
  EXPECT_EQ(plane.Conditions(), "SuccessCriteriaMet(CompletionsReached)");
  plane.Idle();
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 succeeded 3");
  EXPECT_EQ(plane.Conditions(), "SuccessCriteriaMet(CompletionsReached) Complete(CompletionsReached)");
}

TEST(JobTracking, NoFinalizerComesOffBeforeItsPodIsWrittenDown) {
  JobPlane plane;
  plane.AddJob({});
  plane.Pass(5s);
  plane.EndPod(plane.ActivePods()[0], 0);
  Refuse(plane, IsStatus, 2, api::InternalError("disk"));
  plane.Pass(3s);
  EXPECT_EQ(plane.FinalizersLeft(), 1);
  plane.Idle();
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 succeeded 1");
}

TEST(JobTracking, AConflictIsTriedAgain) {
  JobPlane plane;
  plane.AddJob({});
  plane.Pass(5s);
  plane.EndPod(plane.ActivePods()[0], 0);
  // Somebody changes the Job between the look and the write.
  auto once = std::make_shared<bool>(true);
  plane.client().refuse = [&plane, once](const api::WriteRequest& request) -> std::optional<api::Status> {
    if (IsStatus(request) && std::exchange(*once, false))
      plane.Patch({{"metadata", {{"labels", {{"seen", "yes"}}}}}});
    return std::nullopt;
  };
  plane.Idle();
  EXPECT_FALSE(*once);
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 succeeded 1");
  EXPECT_EQ((*plane.Job())["metadata"]["labels"]["seen"], "yes");
}

TEST(JobTracking, APodThatIsNotSeenYetIsNotCreatedAgain) {
  JobPlane plane;
  plane.informers().For("pods").Pause();
  plane.AddJob({{"completions", 3}, {"parallelism", 2}});
  plane.Pass(5s);
  plane.Patch({{"spec", {{"parallelism", 3}}}});
  plane.Pass(1min);
  EXPECT_EQ(plane.Pods().size(), 2u) << "it waits for what it asked for";
  plane.informers().For("pods").Resume();
  plane.Idle();
  EXPECT_EQ(plane.Counts(), "active 3 ready 3 terminating 0");
}

TEST(JobTracking, AViewOfTheJobFromBeforeItsOwnLastWriteIsNotActedOn) {
  JobPlane plane;
  plane.AddJob({{"completions", 2}});
  plane.Pass(5s);
  plane.EndPod(plane.ActivePods()[0], 0);
  plane.informers().For("jobs").Pause();
  // The first pod is counted and the second created. From here on the view of the Job lacks the first success, and the
  // pods no longer tell of it.
  plane.Pass(5s);
  const Strings second = plane.ActivePods();
  EXPECT_EQ(second.size(), 1u);
  plane.EndPod(second.at(0), 0);
  plane.Pass(1min);
  EXPECT_EQ(plane.Pods().size(), 2u);
  plane.informers().For("jobs").Resume();
  plane.Idle();
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 succeeded 2");
  EXPECT_EQ(plane.Pods().size(), 2u);
}

TEST(JobTracking, AFinalizerThatIsSeenThoughItCameOffIsNotCountedTwice) {
  JobPlane plane;
  plane.AddJob({{"completions", 3}, {"parallelism", 2}});
  plane.Pass(5s);
  plane.EndPod(plane.ActivePods()[0], 0);
  plane.Pass(500ms);
  plane.informers().For("pods").Pause();
  plane.Pass(1s);
  EXPECT_EQ(plane.Counts(), "active 2 ready 1 terminating 0 succeeded 1");
  plane.Patch({{"spec", {{"backoffLimit", 5}}}});  // a sync with pods from before
  plane.Pass(1min);
  EXPECT_EQ(plane.Status()["succeeded"], 1);
  plane.informers().For("pods").Resume();
  plane.Idle();
  EXPECT_EQ(plane.Counts(), "active 2 ready 2 terminating 0 succeeded 1");
}

TEST(JobTracking, CreatesThatAreRefusedAreToldAndTriedAgainMoreAndMoreSlowly) {
  JobPlane plane;
  Refuse(plane, IsCreate, 3, api::Forbidden({"", "pods"}, "j-", "exceeded quota: q"));
  plane.AddJob({{"completions", 8}, {"parallelism", 8}});
  plane.Pass(0s);
  EXPECT_EQ(plane.client().writes, (Strings{"create pods", "update jobs/status j"})) << "one at first, not eight";
  plane.Pass(1s);  // then after 1 s, and 2 s later
  EXPECT_EQ(std::count(plane.client().writes.begin(), plane.client().writes.end(), "create pods"), 2);
  plane.Pass(2s);
  EXPECT_EQ(std::count(plane.client().writes.begin(), plane.client().writes.end(), "create pods"), 3);
  plane.Pass(3s);
  EXPECT_TRUE(plane.Pods().empty());
  plane.Pass(2s);
  EXPECT_EQ(plane.Pods().size(), 8u);
  EXPECT_EQ(plane.Events().front().substr(0, 36), "Normal SuccessfulCreate: Created pod");
  EXPECT_EQ(plane.Events().back(), "Warning FailedCreate: Error creating: pods \"j-\" is forbidden: exceeded quota: q");
  EXPECT_EQ(plane.Metric("job_controller_job_pods_creation_total{reason=\"new\",status=\"failed\"}"), "3");
  EXPECT_EQ(plane.Metric("job_controller_job_pods_creation_total{reason=\"new\",status=\"succeeded\"}"), "8");
}

TEST(JobTracking, DeletesThatAreRefusedAreToldAndTriedAgain) {
  JobPlane plane;
  plane.AddJob({{"completions", 4}, {"parallelism", 2}});
  plane.Pass(5s);
  Refuse(plane, IsDelete, 1, api::InternalError("disk"));
  plane.Patch({{"spec", {{"parallelism", 1}}}});
  plane.Pass(0s);
  EXPECT_EQ(plane.ActivePods().size(), 2u);
  plane.Idle();
  EXPECT_EQ(plane.Counts(), "active 1 ready 1 terminating 0");
  EXPECT_EQ(plane.Events().back(), "Warning FailedDelete: Error deleting: Internal error occurred: disk");
}

TEST(JobTracking, AJobThatEndsWaitsUntilAllItsPodsCouldBeDeleted) {
  JobPlane plane;
  plane.AddJob({{"completions", 2}, {"parallelism", 2}, {"activeDeadlineSeconds", 10}}, {{"stop-exit-code", "1"}});
  plane.Pass(5s);
  Refuse(plane, IsDelete, 1, api::InternalError("disk"));
  plane.Pass(5s);
  EXPECT_EQ(plane.Conditions(), "");
  plane.Idle();
  EXPECT_EQ(plane.Conditions(), "FailureTarget(DeadlineExceeded) Failed(DeadlineExceeded)");
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 failed 2");
}

TEST(JobTracking, NoMoreThanFiveHundredPodsAreCreatedOrDeletedAtATime) {
  JobPlane plane({.nodes = 0});
  plane.AddJob({{"completions", 520}, {"parallelism", 520}});
  plane.Pass(0s);
  EXPECT_EQ(plane.Pods().size(), 500u);
  plane.Pass(1s);
  EXPECT_EQ(plane.Counts(), "active 520 ready 0 terminating 0");
  plane.Patch({{"spec", {{"parallelism", 10}}}});
  plane.Pass(0s);
  EXPECT_EQ(plane.Pods().size(), 20u);
  plane.Pass(2s);
  EXPECT_EQ(plane.Counts(), "active 10 ready 0 terminating 0");
}

}  // namespace
}  // namespace terrarium::controllers::job
