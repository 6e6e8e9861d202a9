#include "controllers/job/job_controller.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "api/base/errors.h"
#include "tests/controllers/job/job_plane.h"

namespace terrarium::controllers::job {
namespace {

using namespace std::chrono_literals;
using api::ObjectPtr;
using testing::JobPlane;
using testing::Json;
using Strings = std::vector<std::string>;

constexpr const char* kCompleted = "SuccessCriteriaMet(CompletionsReached) Complete(CompletionsReached)";

// When the Job's pods were created, in seconds after the start of the plane.
std::vector<int> CreationTimes(JobPlane& plane) {
  std::vector<int> out;
  for (const ObjectPtr& pod : plane.Pods()) {
    auto created = api::ParseTime(api::StringAt(*pod->Document(), "metadata", "creationTimestamp"));
    out.push_back(static_cast<int>((*created - testbed::TestbedOptions().start) / 1s));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string Annotation(const ObjectPtr& pod, const char* key) {
  return std::string(api::StringAt(*pod->Document(), "metadata", "annotations", key));
}

TEST(JobController, RunsOnePodToItsEnd) {
  JobPlane plane;
  plane.AddJob({}, {{"run-for", "10s"}});
  plane.Pass(2s);
  EXPECT_EQ(plane.Counts(), "active 1 ready 1 terminating 0");
  EXPECT_EQ(plane.Conditions(), "");
  plane.Pass(8s);
  EXPECT_EQ(plane.Counts(), "active 1 ready 1 terminating 0") << "what pods do is looked at a second later";
  plane.Pass(1s);
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 succeeded 1");
  EXPECT_EQ(plane.Conditions(), kCompleted);
  EXPECT_EQ(plane.Status()["startTime"], "2026-01-01T00:00:00Z");
  EXPECT_EQ(plane.Status()["completionTime"], "2026-01-01T00:00:11Z");
  EXPECT_EQ(plane.FinalizersLeft(), 0);
}

TEST(JobController, IsThereInEveryPlane) {
  testbed::Testbed bed({.nodes = 1});
  const Json pod = {{"metadata", {{"annotations", {{"terrarium.dev/run-for", "1s"}}}}},
                    {"spec", {{"restartPolicy", "Never"}, {"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
  bed.Must(bed.Create("jobs", "default", {{"metadata", {{"name", "j"}}}, {"spec", {{"template", pod}}}}));
  bed.clock().RunUntilIdle(1min);
  EXPECT_TRUE(api::Find(*bed.Get("jobs", "default", "j")->Document(), "status", "completionTime") != nullptr);
}

TEST(JobController, WritesAStatusBeforeAndAfterAFinalizerComesOffAndNoneWithoutAChange) {
  JobPlane plane;
  plane.AddJob({}, {{"run-for", "10s"}});
  plane.Idle();
  const std::string pod = plane.Pods()[0]->header().name;
  EXPECT_EQ(plane.client().writes,
            (Strings{"create pods", "update jobs/status j",                         // active
                     "update jobs/status j",                                        // ready
                     "update jobs/status j", "patch pods " + pod, "update jobs/status j"}));  // uncounted, counted
}

TEST(JobController, KeepsUpParallelismWithoutStartingMoreThanIsLeftToDo) {
  JobPlane plane;
  plane.AddJob({{"completions", 5}, {"parallelism", 2}}, {{"run-for", "10s"}});
  plane.Pass(2s);
  EXPECT_EQ(plane.ActivePods().size(), 2u);
  plane.Pass(10s);
  EXPECT_EQ(plane.Counts(), "active 2 ready 2 terminating 0 succeeded 2");
  plane.Pass(11s);
  EXPECT_EQ(plane.Counts(), "active 1 ready 1 terminating 0 succeeded 4");
  EXPECT_EQ(plane.ActivePods().size(), 1u);
  plane.Idle();
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 succeeded 5");
  EXPECT_EQ(plane.Conditions(), kCompleted);
  EXPECT_EQ(plane.Pods().size(), 5u);
}

TEST(JobController, AWorkQueueIsDoneWhenOneSucceededAndNoneIsActive) {
  JobPlane plane;
  plane.AddJob({{"parallelism", 3}});
  plane.Idle();
  Strings pods = plane.ActivePods();
  ASSERT_EQ(pods.size(), 3u);
  plane.EndPod(pods[0], 0);
  plane.Idle();
  EXPECT_EQ(plane.Counts(), "active 2 ready 2 terminating 0 succeeded 1");
  EXPECT_EQ(plane.Conditions(), "");
  plane.EndPod(pods[1], 1);
  plane.EndPod(pods[2], 0);
  plane.Idle();
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 succeeded 2 failed 1");
  EXPECT_EQ(plane.Conditions(), kCompleted);
  EXPECT_EQ(plane.Pods().size(), 3u) << "nobody is replaced after the first success";
}

TEST(JobController, AnElasticIndexedJobGrowsAndForgetsIndexesThatItLoses) {
  JobPlane plane;
  plane.AddJob({{"completions", 3}, {"parallelism", 3}, {"completionMode", "Indexed"}});
  plane.Idle();
  plane.EndPod(plane.ActivePods()[2], 0);
  plane.Idle();
  EXPECT_EQ(plane.Status()["completedIndexes"], "2");
  plane.Patch({{"spec", {{"completions", 5}, {"parallelism", 5}}}});
  plane.Idle();
  EXPECT_EQ(plane.Counts(), "active 4 ready 4 terminating 0 succeeded 1");
  plane.Patch({{"spec", {{"completions", 1}, {"parallelism", 1}}}});
  plane.Idle();
  EXPECT_EQ(plane.Counts(), "active 1 ready 1 terminating 0") << "pods of other indexes are removed, not counted";
  EXPECT_FALSE(plane.Status().contains("completedIndexes"));
  EXPECT_EQ(Annotation(plane.bed().Get("pods", "default", plane.ActivePods().at(0)),
                       "batch.kubernetes.io/job-completion-index"), "0");
  plane.EndPod(plane.ActivePods()[0], 0);
  plane.Idle();
  EXPECT_EQ(plane.Conditions(), kCompleted);
  EXPECT_EQ(plane.FinalizersLeft(), 0);
}

TEST(JobController, PodsThatAreTooManyAreRemovedLeastAdvancedFirstAndNotCounted) {
  JobPlane plane;
  plane.Script("job-name=j", {{"ready-delay", "1m"}});
  plane.AddJob({{"completions", 9}, {"parallelism", 1}});
  plane.Pass(2min);
  const Strings ready = plane.ActivePods();
  plane.Patch({{"spec", {{"parallelism", 3}}}});
  plane.Pass(10s);
  ASSERT_EQ(plane.ActivePods().size(), 3u);
  plane.Patch({{"spec", {{"parallelism", 1}}}});
  plane.Idle();
  EXPECT_EQ(plane.ActivePods(), ready);
  EXPECT_EQ(plane.Pods().size(), 1u);
  EXPECT_EQ(plane.Counts(), "active 1 ready 1 terminating 0");
  plane.Patch({{"spec", {{"parallelism", 0}}}});
  plane.Idle();
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0");
  EXPECT_EQ(plane.Conditions(), "");
}

TEST(JobController, SuspendingDeletesActivePodsWithoutCountingThemAndResumingStartsAnew) {
  JobPlane plane;
  plane.AddJob({{"completions", 3}, {"parallelism", 2}, {"activeDeadlineSeconds", 600}});
  plane.Pass(5min);
  plane.EndPod(plane.ActivePods()[0], 0);
  plane.Pass(5s);
  plane.Patch({{"spec", {{"suspend", true}}}});
  plane.Pass(2s);
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 succeeded 1");
  EXPECT_EQ(plane.Conditions(), "Suspended(JobSuspended)");
  EXPECT_FALSE(plane.Status().contains("startTime"));
  EXPECT_TRUE(plane.ActivePods().empty());
  plane.Pass(1h);
  EXPECT_EQ(plane.Conditions(), "Suspended(JobSuspended)") << "no deadline while it is suspended";
  plane.Patch({{"spec", {{"suspend", false}}}});
  plane.Pass(2s);
  EXPECT_EQ(plane.Counts(), "active 2 ready 2 terminating 0 succeeded 1");
  EXPECT_EQ(plane.Conditions(), "!Suspended(JobResumed)");
  EXPECT_EQ(plane.Status()["startTime"], "2026-01-01T01:05:07Z");
  plane.Pass(598s);
  EXPECT_EQ(plane.Conditions(), "!Suspended(JobResumed) FailureTarget(DeadlineExceeded)");
  plane.Idle();
  EXPECT_EQ(plane.Conditions(), "!Suspended(JobResumed) FailureTarget(DeadlineExceeded) Failed(DeadlineExceeded)");
  Strings events = plane.Events();
  EXPECT_NE(std::find(events.begin(), events.end(), "Normal Suspended: Job suspended"), events.end());
  EXPECT_NE(std::find(events.begin(), events.end(), "Normal Resumed: Job resumed"), events.end());
}

TEST(JobController, SchedulingDirectivesOfASuspendedJobCountForTheNextPods) {
  JobPlane plane;
  plane.AddJob({{"suspend", true}});
  plane.Idle();
  plane.Patch({{"spec", {{"template", {{"spec", {{"nodeSelector", {{"kubernetes.io/hostname", "node-1"}}}}}}}}}});
  plane.Patch({{"spec", {{"suspend", false}}}});
  plane.Idle();
  ASSERT_EQ(plane.Pods().size(), 1u);
  EXPECT_EQ(api::StringAt(*plane.Pods()[0]->Document(), "spec", "nodeName"), "node-1");
}

TEST(JobController, TheDeadlineIsKeptToTheSecondAndEndsAllPods) {
  JobPlane plane;
  plane.AddJob({{"completions", 2}, {"parallelism", 2}, {"activeDeadlineSeconds", 60}}, {{"stop-after", "20s"}});
  plane.Pass(60s - 1us);
  EXPECT_EQ(plane.ActivePods().size(), 2u);
  plane.Pass(1us);
  EXPECT_TRUE(plane.ActivePods().empty());
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 2 failed 2");
  EXPECT_EQ(plane.Conditions(), "FailureTarget(DeadlineExceeded)") << "the last word waits for the pods";
  plane.Pass(20s);
  EXPECT_EQ(plane.Conditions(), "FailureTarget(DeadlineExceeded)");
  plane.Pass(1s);
  EXPECT_EQ(plane.Conditions(), "FailureTarget(DeadlineExceeded) Failed(DeadlineExceeded)");
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 failed 2");
}

TEST(JobController, ADeadlineThatIsChangedIsObeyedAndOneOfAFinishedJobIsNotWaitedFor) {
  JobPlane plane;
  plane.AddJob({{"activeDeadlineSeconds", 7200}}, {{"run-for", "1m"}}, "done");
  plane.AddJob({{"activeDeadlineSeconds", 7200}});
  plane.Pass(10s);
  plane.Patch({{"spec", {{"activeDeadlineSeconds", 90}}}});
  plane.Idle();
  EXPECT_EQ(plane.Conditions(), "FailureTarget(DeadlineExceeded) Failed(DeadlineExceeded)");
  EXPECT_EQ(plane.Conditions("done"), kCompleted);
  EXPECT_LT(plane.bed().Now() - testbed::TestbedOptions().start, 2min);
}

TEST(JobController, FailingPodsAreReplacedAfterTenSecondsDoubling) {
  JobPlane plane;
  plane.AddJob({{"backoffLimit", 4}}, {{"run-for", "1s"}, {"exit-code", "1"}});
  plane.Idle();
  // Each runs for a second, and 10, 20, 40, 80 seconds after its end the next one comes.
  EXPECT_EQ(CreationTimes(plane), (std::vector<int>{0, 11, 32, 73, 154}));
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 failed 5");
  EXPECT_EQ(plane.Conditions(), "FailureTarget(BackoffLimitExceeded) Failed(BackoffLimitExceeded)");
  EXPECT_EQ(plane.FinalizersLeft(), 0);
}

TEST(JobController, ASuccessForgetsTheFailuresBeforeIt) {
  JobPlane plane;
  plane.AddJob({{"completions", 3}});
  plane.Pass(10s);
  plane.EndPod(plane.ActivePods().at(0), 1);
  plane.Pass(11s);
  plane.EndPod(plane.ActivePods().at(0), 0);
  plane.Pass(1s);
  EXPECT_EQ(plane.ActivePods().size(), 1u) << "nothing to wait for";
  EXPECT_EQ(plane.Counts(), "active 1 ready 0 terminating 0 succeeded 1 failed 1");
}

TEST(JobController, RestartsInPlaceCountWhereContainersRestart) {
  JobPlane plane;
  plane.AddJob({{"backoffLimit", 2}, {"template", {{"spec", {{"restartPolicy", "OnFailure"}}}}}},
               {{"run-for", "1s"}, {"exit-code", "1"}});
  plane.Idle();
  EXPECT_EQ(plane.Conditions(), "FailureTarget(BackoffLimitExceeded) Failed(BackoffLimitExceeded)");
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 failed 1");
  EXPECT_TRUE(plane.Pods().empty());
}

TEST(JobController, IndexesFailByThemselvesWithTheirOwnBackoff) {
  JobPlane plane;
  plane.Script("batch.kubernetes.io/job-completion-index=0", {{"run-for", "1s"}, {"exit-code", 1}});
  plane.Script("batch.kubernetes.io/job-completion-index!=0", {{"run-for", "1s"}});
  plane.AddJob({{"completions", 3}, {"parallelism", 3}, {"completionMode", "Indexed"}, {"backoffLimitPerIndex", 2}});
  plane.Pass(5s);
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 succeeded 2");
  EXPECT_EQ(plane.Status()["failedIndexes"], "");
  EXPECT_EQ(plane.FinalizersLeft(), 1) << "the failed pod is kept for its index until the next one is there";
  plane.Idle();
  EXPECT_EQ(CreationTimes(plane), (std::vector<int>{0, 0, 0, 11, 32}));
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 succeeded 2 failed 3");
  EXPECT_EQ(plane.Status()["failedIndexes"], "0");
  EXPECT_EQ(plane.Conditions(), "FailureTarget(FailedIndexes) Failed(FailedIndexes)");
  Strings counts;
  for (const ObjectPtr& pod : plane.Pods())
    if (Annotation(pod, "batch.kubernetes.io/job-completion-index") == "0")
      counts.push_back(Annotation(pod, "batch.kubernetes.io/job-index-failure-count"));
  std::sort(counts.begin(), counts.end());
  EXPECT_EQ(counts, (Strings{"0", "1", "2"}));
  EXPECT_EQ(plane.FinalizersLeft(), 0);
}

TEST(JobController, TooManyFailedIndexesEndTheJob) {
  JobPlane plane;
  plane.Script("job-name=j", {{"run-for", "1h"}});
  plane.AddJob({{"completions", 4},
                {"parallelism", 4},
                {"completionMode", "Indexed"},
                {"backoffLimitPerIndex", 0},
                {"maxFailedIndexes", 1}});
  plane.Pass(5s);
  const Strings pods = plane.ActivePods();
  plane.EndPod(pods[1], 1);
  plane.Pass(5s);
  EXPECT_EQ(plane.Conditions(), "");
  plane.EndPod(pods[3], 1);
  plane.Idle();
  EXPECT_EQ(plane.Conditions(), "FailureTarget(MaxFailedIndexesExceeded) Failed(MaxFailedIndexesExceeded)");
  EXPECT_EQ(plane.Status()["failedIndexes"], "1,3");
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 failed 4") << "pods that were still active count as failed";
}

Json ExitCodeRule(const char* action, int code) {
  return {{"action", action}, {"onExitCodes", {{"operator", "In"}, {"values", {code}}}}};
}

TEST(JobController, ThePodFailurePolicyIgnoresCountsAndFailsIndexes) {
  JobPlane plane;
  plane.AddJob({{"completions", 2},
                {"parallelism", 2},
                {"completionMode", "Indexed"},
                {"backoffLimitPerIndex", 3},
                {"podFailurePolicy", {{"rules", {ExitCodeRule("Ignore", 10), ExitCodeRule("FailIndex", 11)}}}}});
  plane.Pass(2s);
  const Strings pods = plane.ActivePods();
  plane.EndPod(pods.at(0), 10);
  plane.EndPod(pods.at(1), 11);
  plane.Pass(5s);
  EXPECT_EQ(plane.Status()["failedIndexes"], "1");
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 failed 1");
  plane.Pass(10s);
  ASSERT_EQ(plane.ActivePods().size(), 1u);
  ObjectPtr again = plane.bed().Get("pods", "default", plane.ActivePods()[0]);
  EXPECT_EQ(Annotation(again, "batch.kubernetes.io/job-index-failure-count"), "0");
  EXPECT_EQ(Annotation(again, "batch.kubernetes.io/job-index-ignored-failure-count"), "1");
  plane.EndPod(again->header().name, 0);
  plane.Idle();
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 succeeded 1 failed 1") << "what is ignored is not counted";
  EXPECT_EQ(plane.Conditions(), "FailureTarget(FailedIndexes) Failed(FailedIndexes)");
  EXPECT_EQ(plane.Metric("job_controller_pod_failures_handled_by_failure_policy_total{action=\"Ignore\"}"), "1");
  EXPECT_EQ(plane.Metric("job_controller_pod_failures_handled_by_failure_policy_total{action=\"FailIndex\"}"), "1");
}

TEST(JobController, FailJobEndsTheOtherPodsAndWaitsForThem) {
  JobPlane plane;
  plane.AddJob({{"completions", 3}, {"parallelism", 3},
                {"podFailurePolicy", {{"rules", {ExitCodeRule("FailJob", 42)}}}}},
               {{"stop-after", "15s"}});
  plane.Pass(5s);
  plane.EndPod(plane.ActivePods().at(0), 42);
  plane.Pass(1s);
  EXPECT_EQ(plane.Conditions(), "FailureTarget(PodFailurePolicy)");
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 2 failed 3");
  plane.Pass(15s);
  EXPECT_EQ(plane.Conditions(), "FailureTarget(PodFailurePolicy)");
  plane.Idle();
  EXPECT_EQ(plane.Conditions(), "FailureTarget(PodFailurePolicy) Failed(PodFailurePolicy)");
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 failed 3");
}

TEST(JobController, ADisruptedPodIsIgnoredWhereThePolicySaysSo) {
  JobPlane plane;
  const Json condition = {{"type", "DisruptionTarget"}, {"status", "True"}};
  plane.AddJob({{"backoffLimit", 0},
                {"podFailurePolicy", {{"rules", {{{"action", "Ignore"}, {"onPodConditions", {condition}}}}}}}},
               {{"stop-exit-code", "1"}});
  plane.Pass(5s);
  plane.bed().Must(plane.bed().Evict({"default", plane.ActivePods().at(0)}));
  plane.Idle();
  EXPECT_EQ(plane.Conditions(), "");
  EXPECT_EQ(plane.Counts(), "active 1 ready 1 terminating 0");
}

TEST(JobController, ASuccessPolicyThatIsMetEndsTheRestWithoutCountingIt) {
  JobPlane plane;
  plane.AddJob({{"completions", 3},
                {"parallelism", 3},
                {"completionMode", "Indexed"},
                {"successPolicy", {{"rules", {{{"succeededIndexes", "1-2"}, {"succeededCount", 1}}}}}}},
               {{"stop-after", "10s"}});
  plane.Pass(5s);
  plane.EndPod(plane.ActivePods().at(0), 0);
  plane.Pass(5s);
  EXPECT_EQ(plane.Conditions(), "");
  plane.EndPod(plane.ActivePods().at(0), 0);
  plane.Pass(2s);
  EXPECT_EQ(plane.Conditions(), "SuccessCriteriaMet(SuccessPolicy)");
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 1 succeeded 2");
  plane.Idle();
  EXPECT_EQ(plane.Conditions(), "SuccessCriteriaMet(SuccessPolicy) Complete(SuccessPolicy)");
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 succeeded 2");
  EXPECT_EQ(plane.Status()["completedIndexes"], "0,1");
  EXPECT_EQ(plane.FinalizersLeft(), 0);
}

TEST(JobController, AJobOfAnotherControllerIsLeftAlone) {
  JobPlane plane;
  plane.AddJob({{"managedBy", "example.com/custom"}});
  plane.AddJob({{"managedBy", "kubernetes.io/job-controller"}}, {}, "own");
  plane.Idle();
  EXPECT_TRUE(plane.Pods().empty());
  EXPECT_EQ(plane.Status(), Json::object());
  EXPECT_EQ(plane.Pods("own").size(), 1u);
  EXPECT_EQ(plane.Metric("job_controller_jobs_by_external_controller_total{controller_name=\"example.com/custom\"}"),
            "1");
}

TEST(JobController, MeasuresItselfUnderKubernetesNames) {
  JobPlane plane;
  plane.Script("batch.kubernetes.io/job-completion-index=0", {{"run-for", "5s"}});
  plane.Script("batch.kubernetes.io/job-completion-index=1", {{"run-for", "5s"}, {"exit-code", 1}});
  plane.AddJob({{"completions", 2}, {"parallelism", 2}, {"completionMode", "Indexed"}, {"backoffLimitPerIndex", 0}});
  plane.Idle();
  const std::string prefix = "job_controller_";
  auto metric = [&](const std::string& series) { return plane.Metric(prefix + series); };
  const std::string created = "action=\"pods_created\",completion_mode=\"Indexed\",result=\"success\"";
  EXPECT_EQ(metric("job_syncs_total{" + created + "}"), "1");
  EXPECT_EQ(metric("job_sync_duration_seconds_count{" + created + "}"), "1");
  EXPECT_EQ(metric("job_sync_duration_seconds_bucket{" + created + ",le=\"65.536\"}"), "1");  // 0.004 s, doubled
  EXPECT_EQ(metric(R"(jobs_finished_total{completion_mode="Indexed",reason="FailedIndexes",result="failed"})"), "1");
  for (const std::string result : {"succeeded", "failed"}) {
    EXPECT_EQ(metric("job_pods_finished_total{completion_mode=\"Indexed\",result=\"" + result + "\"}"), "1");
    EXPECT_EQ(metric("job_finished_indexes_total{backoffLimit=\"perIndex\",status=\"" + result + "\"}"), "1");
  }
  EXPECT_EQ(metric("job_pods_creation_total{reason=\"new\",status=\"succeeded\"}"), "2");
  for (const std::string event : {"add", "delete"})
    EXPECT_EQ(metric("terminated_pods_tracking_finalizer_total{event=\"" + event + "\"}"), "2");
  plane.AddJob({}, {{"run-for", "5s"}}, "plain");
  plane.Idle();
  const std::string completed = R"(completion_mode="NonIndexed",reason="CompletionsReached",result="succeeded")";
  EXPECT_EQ(metric("jobs_finished_total{" + completed + "}"), "1");
}

TEST(JobController, CreatesAndDeletesAreExplained) {
  JobPlane plane;
  plane.AddJob({{"completions", 3}, {"parallelism", 2}});
  plane.Idle();
  plane.Patch({{"spec", {{"parallelism", 1}}}});
  plane.Idle();
  std::vector<WhyRecord> records = plane.why().Find("jobs", {"default", "j"});
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].action, "create");
  EXPECT_EQ(records[0].controller, "job-controller");
  EXPECT_EQ(records[0].rule, "pods missing: 2");
  EXPECT_EQ(records[0].saw, records[1].saw) << "one for all records of a decision";
  EXPECT_EQ(records[2].action, "delete");
  EXPECT_EQ(records[2].rule, "pods wanted: 1");
  EXPECT_EQ((*records[2].saw)["active"], 2);
}

}  // namespace
}  // namespace terrarium::controllers::job
