// Every pod is counted exactly once, whichever write is the last before a crash, whichever write fails, and
// however stale the view is.

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "tests/controllers/job/job_cluster.h"

namespace terrarium::controllers::job {
namespace {

using namespace std::chrono_literals;
using api::ObjectPtr;
using testing::JobCluster;
using testing::Json;
using Strings = std::vector<std::string>;
using Verb = api::WriteRequest::Verb;

bool IsCreate(const api::WriteRequest& request) {
  return request.verb == Verb::kCreate && request.resource == "pods";
}
bool IsStatus(const api::WriteRequest& request) { return request.resource == "jobs"; }
bool IsPatch(const api::WriteRequest& request) {
  return request.verb == Verb::kPatch && request.resource == "pods";
}
bool IsDelete(const api::WriteRequest& request) { return request.verb == Verb::kDelete; }

// Refuses the next `times` writes of a kind.
void Refuse(JobCluster& cluster, bool (*which)(const api::WriteRequest&), int times, api::Status with) {
  auto left = std::make_shared<int>(times);
  cluster.client().refuse = [which, left,
                             with](const api::WriteRequest& request) -> std::optional<api::Status> {
    if (!which(request) || *left == 0) return std::nullopt;
    --*left;
    return with;
  };
}

struct Story {
  const char* name;
  std::function<void(JobCluster&)> begin;
  const char* counts;
  const char* conditions;
};

const Story kStories[] = {
    {"three completions, two at a time",
     [](JobCluster& cluster) {
       cluster.AddJob({{"completions", 3}, {"parallelism", 2}}, {{"run-for", "5s"}});
     },
     "ready 0 terminating 0 succeeded 3",
     "SuccessCriteriaMet(CompletionsReached) Complete(CompletionsReached)"},
    {"a Job whose pods all fail",
     [](JobCluster& cluster) {
       cluster.AddJob({{"backoffLimit", 2}}, {{"run-for", "5s"}, {"exit-code", "1"}});
     },
     "ready 0 terminating 0 failed 3", "FailureTarget(BackoffLimitExceeded) Failed(BackoffLimitExceeded)"},
    {"an index that fails for good",
     [](JobCluster& cluster) {
       cluster.Script("batch.kubernetes.io/job-completion-index=1", {{"run-for", "5s"}, {"exit-code", 1}});
       cluster.Script("batch.kubernetes.io/job-completion-index!=1", {{"run-for", "7s"}});
       cluster.AddJob({{"completions", 3},
                       {"parallelism", 3},
                       {"completionMode", "Indexed"},
                       {"backoffLimitPerIndex", 1}});
     },
     "ready 0 terminating 0 succeeded 2 failed 2", "FailureTarget(FailedIndexes) Failed(FailedIndexes)"},
    {"a deadline, with pods that are slow to stop",
     [](JobCluster& cluster) {
       cluster.AddJob({{"completions", 2},
                       {"parallelism", 2},
                       {"activeDeadlineSeconds", 20},
                       {"podReplacementPolicy", "Failed"}},
                      {{"stop-after", "10s"}});
     },
     "ready 0 terminating 0 failed 2", "FailureTarget(DeadlineExceeded) Failed(DeadlineExceeded)"},
    {"a success policy",
     [](JobCluster& cluster) {
       cluster.Script("batch.kubernetes.io/job-completion-index=0", {{"run-for", "5s"}});
       cluster.AddJob({{"completions", 3},
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
    JobCluster cluster({.controllers = testing::kFewControllers, .nodes = 1});
    story.begin(cluster);
    cluster.Idle();
    EXPECT_EQ(cluster.Counts(), story.counts);
    EXPECT_EQ(cluster.Conditions(), story.conditions);
    writes = static_cast<int>(cluster.client().writes.size());
  }
  for (int nth = 1; nth <= writes; ++nth) {
    for (bool arrives : {true, false}) {
      SCOPED_TRACE("crash at write " + std::to_string(nth) +
                   (arrives ? ", which arrives" : ", which is lost"));
      JobCluster cluster({.controllers = testing::kFewControllers, .nodes = 1});
      cluster.CrashAt(nth, arrives);
      story.begin(cluster);
      cluster.Idle();
      EXPECT_EQ(cluster.crashes(), 1);
      EXPECT_EQ(cluster.Counts(), story.counts);
      EXPECT_EQ(cluster.Conditions(), story.conditions);
      EXPECT_EQ(cluster.FinalizersLeft(), 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, JobStories, ::testing::ValuesIn(kStories),
                         [](const auto& info) { return "Story" + std::to_string(info.index); });

TEST(JobTracking, UidsAreInTheStatusWhileTheirFinalizersAreOn) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 2}, {"parallelism", 2}});
  cluster.Pass(5s);
  const Strings pods = cluster.ActivePods();
  const std::string succeeded = cluster.bed().Get("pods", "default", pods[0])->header().uid;
  const std::string failed = cluster.bed().Get("pods", "default", pods[1])->header().uid;
  cluster.EndPod(pods[0], 0);
  cluster.EndPod(pods[1], 1);
  Refuse(cluster, IsPatch, 2, api::ServiceUnavailable("away"));
  cluster.Pass(1s);
  EXPECT_EQ(cluster.Status()["uncountedTerminatedPods"],
            (Json{{"succeeded", {succeeded}}, {"failed", {failed}}}));
  EXPECT_EQ(cluster.Counts(), "active 1 ready 0 terminating 0") << "not in the counters yet";
  EXPECT_EQ(cluster.FinalizersLeft(), 3);
  cluster.Pass(2s);
  EXPECT_EQ(cluster.Status()["uncountedTerminatedPods"], Json::object());
  EXPECT_EQ(cluster.Counts(), "active 1 ready 1 terminating 0 succeeded 1 failed 1");
}

TEST(JobTracking, OneFailedFinalizerRemovalDoesNotBlockTheOthers) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 3}, {"parallelism", 3}});
  cluster.Pass(5s);
  for (const std::string& pod : cluster.ActivePods()) cluster.EndPod(pod, 0);
  Refuse(cluster, IsPatch, 1, api::ServiceUnavailable("away"));
  cluster.Pass(1s);
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 succeeded 2");
  EXPECT_EQ(cluster.Conditions(), "SuccessCriteriaMet(CompletionsReached)");
  cluster.Idle();
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 succeeded 3");
  EXPECT_EQ(cluster.Conditions(), "SuccessCriteriaMet(CompletionsReached) Complete(CompletionsReached)");
}

TEST(JobTracking, NoFinalizerIsRemovedBeforeItsPodIsInTheStatus) {
  JobCluster cluster;
  cluster.AddJob({});
  cluster.Pass(5s);
  cluster.EndPod(cluster.ActivePods()[0], 0);
  Refuse(cluster, IsStatus, 2, api::InternalError("disk"));
  cluster.Pass(3s);
  EXPECT_EQ(cluster.FinalizersLeft(), 1);
  cluster.Idle();
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 succeeded 1");
}

TEST(JobTracking, AConflictIsTriedAgain) {
  JobCluster cluster;
  cluster.AddJob({});
  cluster.Pass(5s);
  cluster.EndPod(cluster.ActivePods()[0], 0);
  // A user changes the Job between the controller's read and its write.
  auto once = std::make_shared<bool>(true);
  cluster.client().refuse = [&cluster, once](const api::WriteRequest& request) -> std::optional<api::Status> {
    if (IsStatus(request) && std::exchange(*once, false))
      cluster.Patch({{"metadata", {{"labels", {{"seen", "yes"}}}}}});
    return std::nullopt;
  };
  cluster.Idle();
  EXPECT_FALSE(*once);
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 succeeded 1");
  EXPECT_EQ((*cluster.Job())["metadata"]["labels"]["seen"], "yes");
}

TEST(JobTracking, APodThatIsNotSeenYetIsNotCreatedAgain) {
  JobCluster cluster;
  cluster.informers().For("pods").Pause();
  cluster.AddJob({{"completions", 3}, {"parallelism", 2}});
  cluster.Pass(5s);
  cluster.Patch({{"spec", {{"parallelism", 3}}}});
  cluster.Pass(1min);
  EXPECT_EQ(cluster.Pods().size(), 2u) << "it waits for what it asked for";
  cluster.informers().For("pods").Resume();
  cluster.Idle();
  EXPECT_EQ(cluster.Counts(), "active 3 ready 3 terminating 0");
}

TEST(JobTracking, AStaleViewOfTheJobIsNotActedOn) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 2}});
  cluster.Pass(5s);
  cluster.EndPod(cluster.ActivePods()[0], 0);
  cluster.informers().For("jobs").Pause();
  // The first pod is counted and the second created. From here on the view of the Job lacks the first
  // success, and the pods no longer show it.
  cluster.Pass(5s);
  const Strings second = cluster.ActivePods();
  EXPECT_EQ(second.size(), 1u);
  cluster.EndPod(second.at(0), 0);
  cluster.Pass(1min);
  EXPECT_EQ(cluster.Pods().size(), 2u);
  cluster.informers().For("jobs").Resume();
  cluster.Idle();
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 succeeded 2");
  EXPECT_EQ(cluster.Pods().size(), 2u);
}

TEST(JobTracking, AStaleFinalizerIsNotCountedTwice) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 3}, {"parallelism", 2}});
  cluster.Pass(5s);
  cluster.EndPod(cluster.ActivePods()[0], 0);
  cluster.Pass(500ms);
  cluster.informers().For("pods").Pause();
  cluster.Pass(1s);
  EXPECT_EQ(cluster.Counts(), "active 2 ready 1 terminating 0 succeeded 1");
  cluster.Patch({{"spec", {{"backoffLimit", 5}}}});  // a sync with stale pods
  cluster.Pass(1min);
  EXPECT_EQ(cluster.Status()["succeeded"], 1);
  cluster.informers().For("pods").Resume();
  cluster.Idle();
  EXPECT_EQ(cluster.Counts(), "active 2 ready 2 terminating 0 succeeded 1");
}

TEST(JobTracking, RefusedCreatesAreReportedAndRetriedWithBackoff) {
  JobCluster cluster;
  Refuse(cluster, IsCreate, 3, api::Forbidden({"", "pods"}, "j-", "exceeded quota: q"));
  cluster.AddJob({{"completions", 8}, {"parallelism", 8}});
  cluster.Pass(0s);
  EXPECT_EQ(cluster.client().writes, (Strings{"create pods", "update jobs/status j"}))
      << "one at first, not eight";
  cluster.Pass(1s);  // then after 1 s, and 2 s later
  EXPECT_EQ(std::count(cluster.client().writes.begin(), cluster.client().writes.end(), "create pods"), 2);
  cluster.Pass(2s);
  EXPECT_EQ(std::count(cluster.client().writes.begin(), cluster.client().writes.end(), "create pods"), 3);
  cluster.Pass(3s);
  EXPECT_TRUE(cluster.Pods().empty());
  cluster.Pass(2s);
  EXPECT_EQ(cluster.Pods().size(), 8u);
  EXPECT_EQ(cluster.Events().front().substr(0, 36), "Normal SuccessfulCreate: Created pod");
  EXPECT_EQ(cluster.Events().back(),
            "Warning FailedCreate: Error creating: pods \"j-\" is forbidden: exceeded quota: q");
  EXPECT_EQ(cluster.Metric("job_controller_job_pods_creation_total{reason=\"new\",status=\"failed\"}"), "3");
  EXPECT_EQ(cluster.Metric("job_controller_job_pods_creation_total{reason=\"new\",status=\"succeeded\"}"),
            "8");
}

TEST(JobTracking, RefusedDeletesAreReportedAndRetried) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 4}, {"parallelism", 2}});
  cluster.Pass(5s);
  Refuse(cluster, IsDelete, 1, api::InternalError("disk"));
  cluster.Patch({{"spec", {{"parallelism", 1}}}});
  cluster.Pass(0s);
  EXPECT_EQ(cluster.ActivePods().size(), 2u);
  cluster.Idle();
  EXPECT_EQ(cluster.Counts(), "active 1 ready 1 terminating 0");
  EXPECT_EQ(cluster.Events().back(), "Warning FailedDelete: Error deleting: Internal error occurred: disk");
}

TEST(JobTracking, AJobThatEndsWaitsUntilAllItsPodsCouldBeDeleted) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 2}, {"parallelism", 2}, {"activeDeadlineSeconds", 10}},
                 {{"stop-exit-code", "1"}});
  cluster.Pass(5s);
  Refuse(cluster, IsDelete, 1, api::InternalError("disk"));
  cluster.Pass(5s);
  EXPECT_EQ(cluster.Conditions(), "");
  cluster.Idle();
  EXPECT_EQ(cluster.Conditions(), "FailureTarget(DeadlineExceeded) Failed(DeadlineExceeded)");
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 failed 2");
}

TEST(JobTracking, NoMoreThanFiveHundredPodsAreCreatedOrDeletedAtATime) {
  JobCluster cluster({.nodes = 0});
  cluster.AddJob({{"completions", 520}, {"parallelism", 520}});
  cluster.Pass(0s);
  EXPECT_EQ(cluster.Pods().size(), 500u);
  cluster.Pass(1s);
  EXPECT_EQ(cluster.Counts(), "active 520 ready 0 terminating 0");
  cluster.Patch({{"spec", {{"parallelism", 10}}}});
  cluster.Pass(0s);
  EXPECT_EQ(cluster.Pods().size(), 20u);
  cluster.Pass(2s);
  EXPECT_EQ(cluster.Counts(), "active 10 ready 0 terminating 0");
}

}  // namespace
}  // namespace terrarium::controllers::job
