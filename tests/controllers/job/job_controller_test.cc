#include "controllers/job/job_controller.h"

#include <algorithm>

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

constexpr const char* kCompleted = "SuccessCriteriaMet(CompletionsReached) Complete(CompletionsReached)";

// When the Job's pods were created, in seconds after the start of the cluster.
std::vector<int> CreationTimes(JobCluster& cluster) {
  std::vector<int> out;
  for (const ObjectPtr& pod : cluster.Pods()) {
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
  JobCluster cluster;
  cluster.AddJob({}, {{"run-for", "10s"}});
  cluster.Pass(2s);
  EXPECT_EQ(cluster.Counts(), "active 1 ready 1 terminating 0");
  EXPECT_EQ(cluster.Conditions(), "");
  cluster.Pass(8s);
  EXPECT_EQ(cluster.Counts(), "active 1 ready 1 terminating 0") << "pod events are batched for one second";
  cluster.Pass(1s);
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 succeeded 1");
  EXPECT_EQ(cluster.Conditions(), kCompleted);
  EXPECT_EQ(cluster.Status()["startTime"], "2026-01-01T00:00:00Z");
  EXPECT_EQ(cluster.Status()["completionTime"], "2026-01-01T00:00:11Z");
  EXPECT_EQ(cluster.FinalizersLeft(), 0);
}

TEST(JobController, RunsInEveryCluster) {
  testbed::Testbed bed({.nodes = 1});
  const Json pod = {
      {"metadata", {{"annotations", {{"terrarium.dev/run-for", "1s"}}}}},
      {"spec", {{"restartPolicy", "Never"}, {"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
  bed.Must(bed.Create("jobs", "default", {{"metadata", {{"name", "j"}}}, {"spec", {{"template", pod}}}}));
  bed.clock().RunUntilIdle(1min);
  EXPECT_TRUE(api::Find(*bed.Get("jobs", "default", "j")->Document(), "status", "completionTime") != nullptr);
}

TEST(JobController, WritesAStatusBeforeAndAfterAFinalizerComesOffAndNoneWithoutAChange) {
  JobCluster cluster;
  cluster.AddJob({}, {{"run-for", "10s"}});
  cluster.Idle();
  const std::string pod = cluster.Pods()[0]->header().name;
  EXPECT_EQ(cluster.client().writes, (Strings{"create pods", "update jobs/status j",  // active
                                              "update jobs/status j",                 // ready
                                              "update jobs/status j", "patch pods " + pod,
                                              "update jobs/status j"}));  // uncounted, counted
}

TEST(JobController, KeepsUpParallelismWithoutStartingMoreThanIsLeftToDo) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 5}, {"parallelism", 2}}, {{"run-for", "10s"}});
  cluster.Pass(2s);
  EXPECT_EQ(cluster.ActivePods().size(), 2u);
  cluster.Pass(10s);
  EXPECT_EQ(cluster.Counts(), "active 2 ready 2 terminating 0 succeeded 2");
  cluster.Pass(11s);
  EXPECT_EQ(cluster.Counts(), "active 1 ready 1 terminating 0 succeeded 4");
  EXPECT_EQ(cluster.ActivePods().size(), 1u);
  cluster.Idle();
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 succeeded 5");
  EXPECT_EQ(cluster.Conditions(), kCompleted);
  EXPECT_EQ(cluster.Pods().size(), 5u);
}

TEST(JobController, AWorkQueueIsDoneWhenOneSucceededAndNoneIsActive) {
  JobCluster cluster;
  cluster.AddJob({{"parallelism", 3}});
  cluster.Idle();
  Strings pods = cluster.ActivePods();
  ASSERT_EQ(pods.size(), 3u);
  cluster.EndPod(pods[0], 0);
  cluster.Idle();
  EXPECT_EQ(cluster.Counts(), "active 2 ready 2 terminating 0 succeeded 1");
  EXPECT_EQ(cluster.Conditions(), "");
  cluster.EndPod(pods[1], 1);
  cluster.EndPod(pods[2], 0);
  cluster.Idle();
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 succeeded 2 failed 1");
  EXPECT_EQ(cluster.Conditions(), kCompleted);
  EXPECT_EQ(cluster.Pods().size(), 3u) << "no pod is replaced after the first success";
}

TEST(JobController, AnElasticIndexedJobGrowsAndDropsIndexesWhenItShrinks) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 3}, {"parallelism", 3}, {"completionMode", "Indexed"}});
  cluster.Idle();
  cluster.EndPod(cluster.ActivePods()[2], 0);
  cluster.Idle();
  EXPECT_EQ(cluster.Status()["completedIndexes"], "2");
  cluster.Patch({{"spec", {{"completions", 5}, {"parallelism", 5}}}});
  cluster.Idle();
  EXPECT_EQ(cluster.Counts(), "active 4 ready 4 terminating 0 succeeded 1");
  cluster.Patch({{"spec", {{"completions", 1}, {"parallelism", 1}}}});
  cluster.Idle();
  EXPECT_EQ(cluster.Counts(), "active 1 ready 1 terminating 0")
      << "pods of other indexes are removed, not counted";
  EXPECT_FALSE(cluster.Status().contains("completedIndexes"));
  EXPECT_EQ(Annotation(cluster.bed().Get("pods", "default", cluster.ActivePods().at(0)),
                       "batch.kubernetes.io/job-completion-index"),
            "0");
  cluster.EndPod(cluster.ActivePods()[0], 0);
  cluster.Idle();
  EXPECT_EQ(cluster.Conditions(), kCompleted);
  EXPECT_EQ(cluster.FinalizersLeft(), 0);
}

TEST(JobController, PodsThatAreTooManyAreRemovedLeastAdvancedFirstAndNotCounted) {
  JobCluster cluster;
  cluster.Script("job-name=j", {{"ready-delay", "1m"}});
  cluster.AddJob({{"completions", 9}, {"parallelism", 1}});
  cluster.Pass(2min);
  const Strings ready = cluster.ActivePods();
  cluster.Patch({{"spec", {{"parallelism", 3}}}});
  cluster.Pass(10s);
  ASSERT_EQ(cluster.ActivePods().size(), 3u);
  cluster.Patch({{"spec", {{"parallelism", 1}}}});
  cluster.Idle();
  EXPECT_EQ(cluster.ActivePods(), ready);
  EXPECT_EQ(cluster.Pods().size(), 1u);
  EXPECT_EQ(cluster.Counts(), "active 1 ready 1 terminating 0");
  cluster.Patch({{"spec", {{"parallelism", 0}}}});
  cluster.Idle();
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0");
  EXPECT_EQ(cluster.Conditions(), "");
}

TEST(JobController, SuspendingDeletesActivePodsWithoutCountingThemAndResumingStartsAgain) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 3}, {"parallelism", 2}, {"activeDeadlineSeconds", 600}});
  cluster.Pass(5min);
  cluster.EndPod(cluster.ActivePods()[0], 0);
  cluster.Pass(5s);
  cluster.Patch({{"spec", {{"suspend", true}}}});
  cluster.Pass(2s);
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 succeeded 1");
  EXPECT_EQ(cluster.Conditions(), "Suspended(JobSuspended)");
  EXPECT_FALSE(cluster.Status().contains("startTime"));
  EXPECT_TRUE(cluster.ActivePods().empty());
  Strings events = cluster.Events();  // they are gone after an hour
  EXPECT_NE(std::find(events.begin(), events.end(), "Normal Suspended: Job suspended"), events.end());
  cluster.Pass(1h);
  EXPECT_EQ(cluster.Conditions(), "Suspended(JobSuspended)") << "no deadline while it is suspended";
  cluster.Patch({{"spec", {{"suspend", false}}}});
  cluster.Pass(2s);
  EXPECT_EQ(cluster.Counts(), "active 2 ready 2 terminating 0 succeeded 1");
  EXPECT_EQ(cluster.Conditions(), "!Suspended(JobResumed)");
  EXPECT_EQ(cluster.Status()["startTime"], "2026-01-01T01:05:07Z");
  cluster.Pass(598s);
  EXPECT_EQ(cluster.Conditions(), "!Suspended(JobResumed) FailureTarget(DeadlineExceeded)");
  cluster.Idle();
  EXPECT_EQ(cluster.Conditions(),
            "!Suspended(JobResumed) FailureTarget(DeadlineExceeded) Failed(DeadlineExceeded)");
  events = cluster.Events();
  EXPECT_NE(std::find(events.begin(), events.end(), "Normal Resumed: Job resumed"), events.end());
}

TEST(JobController, SchedulingDirectivesOfASuspendedJobCountForTheNextPods) {
  JobCluster cluster;
  cluster.AddJob({{"suspend", true}});
  cluster.Idle();
  cluster.Patch(
      {{"spec", {{"template", {{"spec", {{"nodeSelector", {{"kubernetes.io/hostname", "node-1"}}}}}}}}}});
  cluster.Patch({{"spec", {{"suspend", false}}}});
  cluster.Idle();
  ASSERT_EQ(cluster.Pods().size(), 1u);
  EXPECT_EQ(api::StringAt(*cluster.Pods()[0]->Document(), "spec", "nodeName"), "node-1");
}

TEST(JobController, TheDeadlineIsKeptToTheSecondAndEndsAllPods) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 2}, {"parallelism", 2}, {"activeDeadlineSeconds", 60}},
                 {{"stop-after", "20s"}});
  cluster.Pass(60s - 1us);
  EXPECT_EQ(cluster.ActivePods().size(), 2u);
  cluster.Pass(1us);
  EXPECT_TRUE(cluster.ActivePods().empty());
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 2 failed 2");
  EXPECT_EQ(cluster.Conditions(), "FailureTarget(DeadlineExceeded)") << "the last word waits for the pods";
  cluster.Pass(20s);
  EXPECT_EQ(cluster.Conditions(), "FailureTarget(DeadlineExceeded)");
  cluster.Pass(1s);
  EXPECT_EQ(cluster.Conditions(), "FailureTarget(DeadlineExceeded) Failed(DeadlineExceeded)");
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 failed 2");
}

TEST(JobController, AChangedDeadlineIsObeyedAndThatOfAFinishedJobIsNotWaitedFor) {
  JobCluster cluster;
  cluster.AddJob({{"activeDeadlineSeconds", 7200}}, {{"run-for", "1m"}}, "done");
  cluster.AddJob({{"activeDeadlineSeconds", 7200}});
  cluster.Pass(10s);
  cluster.Patch({{"spec", {{"activeDeadlineSeconds", 90}}}});
  cluster.Idle();
  EXPECT_EQ(cluster.Conditions(), "FailureTarget(DeadlineExceeded) Failed(DeadlineExceeded)");
  EXPECT_EQ(cluster.Conditions("done"), kCompleted);
  EXPECT_LT(cluster.bed().Now() - testbed::TestbedOptions().start, 2min);
}

TEST(JobController, FailingPodsAreReplacedAfterTenSecondsDoubling) {
  JobCluster cluster;
  cluster.AddJob({{"backoffLimit", 4}}, {{"run-for", "1s"}, {"exit-code", "1"}});
  cluster.Idle();
  // Each runs for a second; the next ones follow 10, 20, 40 and 80 seconds after its end.
  EXPECT_EQ(CreationTimes(cluster), (std::vector<int>{0, 11, 32, 73, 154}));
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 failed 5");
  EXPECT_EQ(cluster.Conditions(), "FailureTarget(BackoffLimitExceeded) Failed(BackoffLimitExceeded)");
  EXPECT_EQ(cluster.FinalizersLeft(), 0);
}

TEST(JobController, ASuccessForgetsTheFailuresBeforeIt) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 3}});
  cluster.Pass(10s);
  cluster.EndPod(cluster.ActivePods().at(0), 1);
  cluster.Pass(11s);
  cluster.EndPod(cluster.ActivePods().at(0), 0);
  cluster.Pass(1s);
  EXPECT_EQ(cluster.ActivePods().size(), 1u) << "nothing to wait for";
  EXPECT_EQ(cluster.Counts(), "active 1 ready 0 terminating 0 succeeded 1 failed 1");
}

TEST(JobController, RestartsInPlaceCountWhereContainersRestart) {
  JobCluster cluster;
  cluster.AddJob({{"backoffLimit", 2}, {"template", {{"spec", {{"restartPolicy", "OnFailure"}}}}}},
                 {{"run-for", "1s"}, {"exit-code", "1"}});
  cluster.Idle();
  EXPECT_EQ(cluster.Conditions(), "FailureTarget(BackoffLimitExceeded) Failed(BackoffLimitExceeded)");
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 failed 1");
  EXPECT_TRUE(cluster.Pods().empty());
}

TEST(JobController, IndexesFailByThemselvesWithTheirOwnBackoff) {
  JobCluster cluster;
  cluster.Script("batch.kubernetes.io/job-completion-index=0", {{"run-for", "1s"}, {"exit-code", 1}});
  cluster.Script("batch.kubernetes.io/job-completion-index!=0", {{"run-for", "1s"}});
  cluster.AddJob(
      {{"completions", 3}, {"parallelism", 3}, {"completionMode", "Indexed"}, {"backoffLimitPerIndex", 2}});
  cluster.Pass(5s);
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 succeeded 2");
  EXPECT_EQ(cluster.Status()["failedIndexes"], "");
  EXPECT_EQ(cluster.FinalizersLeft(), 1)
      << "the failed pod is kept for its index until the next one is there";
  cluster.Idle();
  EXPECT_EQ(CreationTimes(cluster), (std::vector<int>{0, 0, 0, 11, 32}));
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 succeeded 2 failed 3");
  EXPECT_EQ(cluster.Status()["failedIndexes"], "0");
  EXPECT_EQ(cluster.Conditions(), "FailureTarget(FailedIndexes) Failed(FailedIndexes)");
  Strings counts;
  for (const ObjectPtr& pod : cluster.Pods())
    if (Annotation(pod, "batch.kubernetes.io/job-completion-index") == "0")
      counts.push_back(Annotation(pod, "batch.kubernetes.io/job-index-failure-count"));
  std::sort(counts.begin(), counts.end());
  EXPECT_EQ(counts, (Strings{"0", "1", "2"}));
  EXPECT_EQ(cluster.FinalizersLeft(), 0);
}

TEST(JobController, TooManyFailedIndexesEndTheJob) {
  JobCluster cluster;
  cluster.Script("job-name=j", {{"run-for", "1h"}});
  cluster.AddJob({{"completions", 4},
                  {"parallelism", 4},
                  {"completionMode", "Indexed"},
                  {"backoffLimitPerIndex", 0},
                  {"maxFailedIndexes", 1}});
  cluster.Pass(5s);
  const Strings pods = cluster.ActivePods();
  cluster.EndPod(pods[1], 1);
  cluster.Pass(5s);
  EXPECT_EQ(cluster.Conditions(), "");
  cluster.EndPod(pods[3], 1);
  cluster.Idle();
  EXPECT_EQ(cluster.Conditions(), "FailureTarget(MaxFailedIndexesExceeded) Failed(MaxFailedIndexesExceeded)");
  EXPECT_EQ(cluster.Status()["failedIndexes"], "1,3");
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 failed 4")
      << "pods that were still active count as failed";
}

Json ExitCodeRule(const char* action, int code) {
  return {{"action", action}, {"onExitCodes", {{"operator", "In"}, {"values", {code}}}}};
}

TEST(JobController, ThePodFailurePolicyIgnoresCountsAndFailsIndexes) {
  JobCluster cluster;
  cluster.AddJob(
      {{"completions", 2},
       {"parallelism", 2},
       {"completionMode", "Indexed"},
       {"backoffLimitPerIndex", 3},
       {"podFailurePolicy", {{"rules", {ExitCodeRule("Ignore", 10), ExitCodeRule("FailIndex", 11)}}}}});
  cluster.Pass(2s);
  const Strings pods = cluster.ActivePods();
  cluster.EndPod(pods.at(0), 10);
  cluster.EndPod(pods.at(1), 11);
  cluster.Pass(5s);
  EXPECT_EQ(cluster.Status()["failedIndexes"], "1");
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 failed 1");
  cluster.Pass(10s);
  ASSERT_EQ(cluster.ActivePods().size(), 1u);
  ObjectPtr again = cluster.bed().Get("pods", "default", cluster.ActivePods()[0]);
  EXPECT_EQ(Annotation(again, "batch.kubernetes.io/job-index-failure-count"), "0");
  EXPECT_EQ(Annotation(again, "batch.kubernetes.io/job-index-ignored-failure-count"), "1");
  cluster.EndPod(again->header().name, 0);
  cluster.Idle();
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 succeeded 1 failed 1")
      << "what is ignored is not counted";
  EXPECT_EQ(cluster.Conditions(), "FailureTarget(FailedIndexes) Failed(FailedIndexes)");
  EXPECT_EQ(cluster.Metric("job_controller_pod_failures_handled_by_failure_policy_total{action=\"Ignore\"}"),
            "1");
  EXPECT_EQ(
      cluster.Metric("job_controller_pod_failures_handled_by_failure_policy_total{action=\"FailIndex\"}"),
      "1");
}

TEST(JobController, FailJobEndsTheOtherPodsAndWaitsForThem) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 3},
                  {"parallelism", 3},
                  {"podFailurePolicy", {{"rules", {ExitCodeRule("FailJob", 42)}}}}},
                 {{"stop-after", "15s"}});
  cluster.Pass(5s);
  cluster.EndPod(cluster.ActivePods().at(0), 42);
  cluster.Pass(1s);
  EXPECT_EQ(cluster.Conditions(), "FailureTarget(PodFailurePolicy)");
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 2 failed 3");
  cluster.Pass(15s);
  EXPECT_EQ(cluster.Conditions(), "FailureTarget(PodFailurePolicy)");
  cluster.Idle();
  EXPECT_EQ(cluster.Conditions(), "FailureTarget(PodFailurePolicy) Failed(PodFailurePolicy)");
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 failed 3");
}

TEST(JobController, ADisruptedPodIsIgnoredByAnIgnoreRule) {
  JobCluster cluster;
  const Json condition = {{"type", "DisruptionTarget"}, {"status", "True"}};
  cluster.AddJob(
      {{"backoffLimit", 0},
       {"podFailurePolicy", {{"rules", {{{"action", "Ignore"}, {"onPodConditions", {condition}}}}}}}},
      {{"stop-exit-code", "1"}});
  cluster.Pass(5s);
  cluster.bed().Must(cluster.bed().Evict({"default", cluster.ActivePods().at(0)}));
  cluster.Idle();
  EXPECT_EQ(cluster.Conditions(), "");
  EXPECT_EQ(cluster.Counts(), "active 1 ready 1 terminating 0");
}

TEST(JobController, ASuccessPolicyThatIsMetEndsTheRestWithoutCountingIt) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 3},
                  {"parallelism", 3},
                  {"completionMode", "Indexed"},
                  {"successPolicy", {{"rules", {{{"succeededIndexes", "1-2"}, {"succeededCount", 1}}}}}}},
                 {{"stop-after", "10s"}});
  cluster.Pass(5s);
  cluster.EndPod(cluster.ActivePods().at(0), 0);
  cluster.Pass(5s);
  EXPECT_EQ(cluster.Conditions(), "");
  cluster.EndPod(cluster.ActivePods().at(0), 0);
  cluster.Pass(2s);
  EXPECT_EQ(cluster.Conditions(), "SuccessCriteriaMet(SuccessPolicy)");
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 1 succeeded 2");
  cluster.Idle();
  EXPECT_EQ(cluster.Conditions(), "SuccessCriteriaMet(SuccessPolicy) Complete(SuccessPolicy)");
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 succeeded 2");
  EXPECT_EQ(cluster.Status()["completedIndexes"], "0,1");
  EXPECT_EQ(cluster.FinalizersLeft(), 0);
}

TEST(JobController, AJobManagedByAnotherControllerIsLeftAlone) {
  JobCluster cluster;
  cluster.AddJob({{"managedBy", "example.com/custom"}});
  cluster.AddJob({{"managedBy", "kubernetes.io/job-controller"}}, {}, "own");
  cluster.Idle();
  EXPECT_TRUE(cluster.Pods().empty());
  EXPECT_EQ(cluster.Status(), Json::object());
  EXPECT_EQ(cluster.Pods("own").size(), 1u);
  EXPECT_EQ(cluster.Metric(
                "job_controller_jobs_by_external_controller_total{controller_name=\"example.com/custom\"}"),
            "1");
}

TEST(JobController, MeasuresItselfUnderKubernetesNames) {
  JobCluster cluster;
  cluster.Script("batch.kubernetes.io/job-completion-index=0", {{"run-for", "5s"}});
  cluster.Script("batch.kubernetes.io/job-completion-index=1", {{"run-for", "5s"}, {"exit-code", 1}});
  cluster.AddJob(
      {{"completions", 2}, {"parallelism", 2}, {"completionMode", "Indexed"}, {"backoffLimitPerIndex", 0}});
  cluster.Idle();
  const std::string prefix = "job_controller_";
  auto metric = [&](const std::string& series) { return cluster.Metric(prefix + series); };
  const std::string created = "action=\"pods_created\",completion_mode=\"Indexed\",result=\"success\"";
  EXPECT_EQ(metric("job_syncs_total{" + created + "}"), "1");
  EXPECT_EQ(metric("job_sync_duration_seconds_count{" + created + "}"), "1");
  EXPECT_EQ(metric("job_sync_duration_seconds_bucket{" + created + ",le=\"65.536\"}"),
            "1");  // 0.004 s, doubled
  EXPECT_EQ(
      metric(R"(jobs_finished_total{completion_mode="Indexed",reason="FailedIndexes",result="failed"})"),
      "1");
  for (const std::string result : {"succeeded", "failed"}) {
    EXPECT_EQ(metric("job_pods_finished_total{completion_mode=\"Indexed\",result=\"" + result + "\"}"), "1");
    EXPECT_EQ(metric("job_finished_indexes_total{backoffLimit=\"perIndex\",status=\"" + result + "\"}"), "1");
  }
  EXPECT_EQ(metric("job_pods_creation_total{reason=\"new\",status=\"succeeded\"}"), "2");
  for (const std::string event : {"add", "delete"})
    EXPECT_EQ(metric("terminated_pods_tracking_finalizer_total{event=\"" + event + "\"}"), "2");
  cluster.AddJob({}, {{"run-for", "5s"}}, "plain");
  cluster.Idle();
  const std::string completed =
      R"(completion_mode="NonIndexed",reason="CompletionsReached",result="succeeded")";
  EXPECT_EQ(metric("jobs_finished_total{" + completed + "}"), "1");
}

TEST(JobController, CreatesAndDeletesAreExplained) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 3}, {"parallelism", 2}});
  cluster.Idle();
  cluster.Patch({{"spec", {{"parallelism", 1}}}});
  cluster.Idle();
  std::vector<WhyRecord> records = cluster.why().Find("jobs", {"default", "j"});
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
