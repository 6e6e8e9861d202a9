// KEP-3939, podReplacementPolicy: its integration cases and its e2e example, step by step, and its list of
// unit tests.

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/controllers/job/job_cluster.h"

namespace terrarium::controllers::job {
namespace {

using namespace std::chrono_literals;
using api::ObjectPtr;
using testing::JobCluster;
using testing::JobClusterOptions;
using testing::Json;
using Strings = std::vector<std::string>;

constexpr const char* kOff = "JobPodReplacementPolicy=false";

// Pods that run until they are deleted, and then terminate until they are released.
const Json kSlowToTerminate = {{"hold", "terminating"}};

Json TwoPods(const char* policy) {
  return {{"completions", 2}, {"parallelism", 2}, {"podReplacementPolicy", policy}};
}

Json TwoIndexes(const char* policy) {
  Json spec = TwoPods(policy);
  spec["completionMode"] = "Indexed";
  return spec;
}

void DeleteAll(JobCluster& cluster) {
  for (const std::string& pod : cluster.ActivePods()) cluster.DeletePod(pod);
}

// Pods that are being deleted and have not ended.
Strings Terminating(JobCluster& cluster) {
  Strings out;
  for (const ObjectPtr& pod : cluster.Pods()) {
    std::string_view phase = api::StringAt(*pod->Document(), "status", "phase");
    if (pod->header().deleting && phase != "Succeeded" && phase != "Failed")
      out.push_back(pod->header().name);
  }
  return out;
}

std::string CreatedFor(JobCluster& cluster, const char* reason) {
  return cluster.Metric("job_controller_job_pods_creation_total{reason=\"" + std::string(reason) +
                        "\",status=\"succeeded\"}");
}

TEST(JobPodReplacement, IntegrationCaseGateOnAndPolicyFailed) {
  JobCluster cluster;
  // 1. Job starts pods that takes a while to terminate
  cluster.AddJob(TwoPods("Failed"), kSlowToTerminate);
  cluster.Pass(5s);
  ASSERT_EQ(cluster.ActivePods().size(), 2u);
  // 2. Delete pods
  DeleteAll(cluster);
  cluster.Pass(10min);
  // 3. Verify that `terminating` is tracked
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 2");
  // 4. Verify that pod creation only occurs once pod is fully terminated.
  EXPECT_TRUE(cluster.ActivePods().empty());
  cluster.Release(Terminating(cluster)[0], 1);
  cluster.Pass(11s);
  EXPECT_EQ(cluster.Counts(), "active 1 ready 1 terminating 1 failed 1");
  cluster.Release(Terminating(cluster)[0], 1);
  cluster.Pass(21s);
  EXPECT_EQ(cluster.Counts(), "active 2 ready 2 terminating 0 failed 2");
  EXPECT_EQ(cluster.ActivePods().size(), 2u);
  EXPECT_EQ(CreatedFor(cluster, "new"), "2");
  EXPECT_EQ(CreatedFor(cluster, "recreate_failed"), "2");
}

TEST(JobPodReplacement, IntegrationCaseGateOnAndPolicyTerminatingOrFailed) {
  JobCluster cluster;
  // 1. Job starts pods that takes a while to terminate
  cluster.AddJob(TwoPods("TerminatingOrFailed"), kSlowToTerminate);
  cluster.Pass(5s);
  // 2. Delete pods
  DeleteAll(cluster);
  cluster.Pass(1s);
  // 3. Verify that `terminating` is tracked
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 2 failed 2");
  // 4. Verify that pod creation only occurs once deletion happens.
  EXPECT_TRUE(cluster.ActivePods().empty()) << "two failures: twenty seconds";
  cluster.Pass(20s);
  EXPECT_EQ(cluster.Counts(), "active 2 ready 2 terminating 2 failed 2");
  EXPECT_EQ(CreatedFor(cluster, "recreate_terminating_or_failed"), "2");
  // Terminating pods that succeed later are not counted again.
  for (const std::string& pod : Terminating(cluster)) cluster.Release(pod, 0);
  cluster.Pass(5s);
  EXPECT_EQ(cluster.Counts(), "active 2 ready 2 terminating 0 failed 2");
  EXPECT_EQ(cluster.Pods().size(), 2u);
}

TEST(JobPodReplacement, IntegrationCaseGateOff) {
  JobCluster cluster({.gates = kOff, .apiserver_gates = kOff});
  // 1. Job starts pods that takes a while to terminate
  cluster.AddJob(TwoPods("Failed"), kSlowToTerminate);
  cluster.Pass(5s);
  EXPECT_FALSE((*cluster.Job())["spec"].contains("podReplacementPolicy"));
  // 2. Delete pods
  DeleteAll(cluster);
  cluster.Pass(21s);
  // 3. Verify that `terminating` is not tracked
  EXPECT_EQ(Terminating(cluster).size(), 2u);
  // 4. Verify that pod creation only occurs once deletion happens.
  EXPECT_EQ(cluster.Counts(), "active 2 ready 2 failed 2");
  EXPECT_EQ(CreatedFor(cluster, "new"), "4") << "without the gate the reason is not counted";
}

TEST(JobPodReplacement, IntegrationCaseDisableAndReenable) {
  JobCluster cluster;
  // 1. Create Job with `podReplacementPolicy: Failed`
  Json spec = TwoPods("Failed");
  spec["completions"] = 4;
  spec["parallelism"] = 4;
  cluster.AddJob(spec, kSlowToTerminate);
  // 2. Job starts pods that takes a while to terminate
  cluster.Pass(5s);
  const Strings first = cluster.ActivePods();
  ASSERT_EQ(first.size(), 4u);
  EXPECT_EQ(cluster.Counts(), "active 4 ready 4 terminating 0");
  // 3. Restart controller and disable `JobPodReplacementPolicy`
  cluster.RestartController(kOff);
  // 4. Delete some pods
  cluster.DeletePod(first[0]);
  cluster.DeletePod(first[1]);
  // 5. Verify that terminating pods count as failed and pods are recreated.
  cluster.Pass(21s);
  EXPECT_EQ(Terminating(cluster).size(), 2u);
  EXPECT_EQ(cluster.Counts(), "active 4 ready 4 failed 2") << "status.terminating has gone";
  // 6. Restart controller and reenable `JobPodReplacementPolicy`
  cluster.RestartController();
  cluster.Pass(2s);
  EXPECT_EQ(cluster.Counts(), "active 4 ready 4 terminating 2 failed 2");
  // 7. Terminate pods with phase Succeeded.
  cluster.Release(first[0], 0);
  cluster.Release(first[1], 0);
  cluster.Pass(2s);
  // 8. Verify that pods still count as failed.
  EXPECT_EQ(cluster.Counts(), "active 4 ready 4 terminating 0 failed 2");
  // 9. Delete remaining Pods.
  DeleteAll(cluster);
  cluster.Pass(10min);
  // 10. Verify that `terminating` is tracked.
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 4 failed 2");
  // 11. Verify that pod creation only occurs once pod is fully terminated.
  EXPECT_TRUE(cluster.ActivePods().empty());
  // 12. Verify that pod creation only occurs once deletion happens.
  for (const std::string& pod : Terminating(cluster)) cluster.Release(pod, 1);
  cluster.Pass(10min);
  EXPECT_EQ(cluster.Counts(), "active 4 ready 4 terminating 0 failed 6");
}

// KEP-3939, e2e: a deletion does not trigger a new pod until the old one is fully gone.
TEST(JobPodReplacement, EndToEndExampleOfSlowCleanup) {
  for (const char* policy : {"Failed", "TerminatingOrFailed"}) {
    JobCluster cluster;
    cluster.AddJob({{"completions", 1},
                    {"parallelism", 1},
                    {"backoffLimit", 2},
                    {"podReplacementPolicy", policy},
                    {"template", {{"spec", {{"terminationGracePeriodSeconds", 120}}}}}},
                   {{"stop-after", "1m"}, {"stop-exit-code", "143"}});
    cluster.Pass(10s);
    const std::string first = cluster.ActivePods().at(0);
    cluster.DeletePod(first);
    cluster.Pass(12s);
    if (std::string(policy) == "TerminatingOrFailed") {
      EXPECT_EQ(cluster.ActivePods().size(), 1u);
      EXPECT_NE(cluster.bed().Get("pods", "default", first), nullptr);
      continue;
    }
    EXPECT_EQ(cluster.Counts(), "ready 0 terminating 1");
    cluster.bed().clock().RunUntil([&] { return !cluster.ActivePods().empty(); }, 1h);
    EXPECT_EQ(cluster.bed().Get("pods", "default", first), nullptr);
    EXPECT_EQ(cluster.bed().Now() - testbed::TestbedOptions().start, 80s)
        << "it took a minute to stop, and ten seconds";
  }
}

// KEP-3939, unit a: Verify that terminating pods are in fact counted in the status. Also when nothing else
// changes.
TEST(JobPodReplacement, UnitATerminatingPodsAreCountedInTheStatus) {
  for (const char* policy : {"Failed", "TerminatingOrFailed"}) {
    JobCluster cluster;
    cluster.AddJob({{"parallelism", 0}, {"completions", 5}, {"podReplacementPolicy", policy}},
                   kSlowToTerminate);
    cluster.Patch({{"spec", {{"parallelism", 2}}}});
    cluster.Pass(5s);
    cluster.Patch({{"spec", {{"parallelism", 1}}}});
    cluster.Pass(5s);
    EXPECT_EQ(cluster.Counts(), "active 1 ready 1 terminating 1") << policy;
    cluster.Release(Terminating(cluster)[0]);
    cluster.Pass(2s);
    EXPECT_EQ(cluster.Counts(), "active 1 ready 1 terminating 0") << policy;
  }
}

// KEP-3939, unit b: Recreate pods only once pod is fully terminated (ie `Failed`). Per index where indexed.
TEST(JobPodReplacement, UnitBAnIndexIsRunAgainOnlyWhenItsPodHasFailed) {
  JobCluster cluster;
  cluster.AddJob(TwoIndexes("Failed"), kSlowToTerminate);
  cluster.Pass(5s);
  cluster.DeletePod(cluster.ActivePods()[0]);
  cluster.Pass(10min);
  EXPECT_EQ(cluster.Counts(), "active 1 ready 1 terminating 1");
  cluster.Patch({{"spec", {{"completions", 3}, {"parallelism", 3}}}});
  cluster.Pass(5s);
  EXPECT_EQ(cluster.Counts(), "active 2 ready 2 terminating 1");
  for (const std::string& pod : cluster.ActivePods())
    EXPECT_NE(pod.substr(0, 4), "j-0-") << "it waits, index 2 runs";
  cluster.Release(Terminating(cluster)[0], 1);
  cluster.Pass(15s);
  EXPECT_EQ(cluster.Counts(), "active 3 ready 3 terminating 0 failed 1");
}

// "Exponential Backoff for Pod Failures": from the time the pod is terminating.
TEST(JobPodReplacement, UnderTerminatingOrFailedTheBackoffCountsFromTheDeletion) {
  JobCluster cluster;
  cluster.AddJob({{"podReplacementPolicy", "TerminatingOrFailed"}}, kSlowToTerminate);
  cluster.Pass(5s);
  cluster.DeletePod(cluster.ActivePods()[0]);
  cluster.Pass(9s);
  EXPECT_TRUE(cluster.ActivePods().empty());
  cluster.Pass(1s);
  EXPECT_EQ(cluster.ActivePods().size(), 1u);
  EXPECT_EQ(Terminating(cluster).size(), 1u) << "beside the pod that has yet to end";
}

// "Exponential Backoff for Pod Failures": the wait before the replacement begins when the pod has failed.
TEST(JobPodReplacement, UnderFailedTheBackoffCountsFromTheFailureNotFromTheDeletion) {
  JobCluster cluster;
  cluster.AddJob({{"podReplacementPolicy", "Failed"}}, kSlowToTerminate);
  cluster.Pass(5s);
  cluster.DeletePod(cluster.ActivePods()[0]);
  cluster.Pass(55s);
  cluster.Release(Terminating(cluster)[0], 1);  // at 60 s
  cluster.Pass(9s);
  EXPECT_TRUE(cluster.ActivePods().empty());
  cluster.Pass(1s);
  EXPECT_EQ(cluster.ActivePods().size(), 1u);
}

// A terminating pod that succeeds counts as succeeded, unless it was counted before.
TEST(JobPodReplacement, UnderFailedATerminatingPodMaySucceed) {
  JobCluster cluster;
  cluster.AddJob(TwoPods("Failed"), kSlowToTerminate);
  cluster.Pass(5s);
  DeleteAll(cluster);
  cluster.Pass(5s);
  for (const std::string& pod : Terminating(cluster)) cluster.Release(pod, 0);
  cluster.Idle();
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 succeeded 2");
  EXPECT_EQ(cluster.Conditions(), "SuccessCriteriaMet(CompletionsReached) Complete(CompletionsReached)");
  EXPECT_EQ(cluster.FinalizersLeft(), 0);
}

// A suspended Job has no start time, and a finished one must have one.
TEST(JobPodReplacement, AJobMayEndWhileItIsSuspended) {
  JobCluster cluster;
  cluster.AddJob({{"podReplacementPolicy", "Failed"}}, kSlowToTerminate);
  cluster.Pass(5s);
  DeleteAll(cluster);
  cluster.Patch({{"spec", {{"suspend", true}}}});
  cluster.Pass(5s);
  EXPECT_EQ(cluster.Conditions(), "Suspended(JobSuspended)");
  EXPECT_FALSE(cluster.Status().contains("startTime"));
  cluster.Release(Terminating(cluster)[0], 0);
  cluster.Idle();
  EXPECT_EQ(cluster.Conditions(),
            "Suspended(JobSuspended) SuccessCriteriaMet(CompletionsReached) "
            "Complete(CompletionsReached)");
}

// KEP-3939, unit c: Verify existing behavior with `TerminatingOrFailed`.
TEST(JobPodReplacement, UnitCUnderTerminatingOrFailedAnIndexRunsBesideItsTerminatingPod) {
  JobCluster cluster;
  cluster.AddJob(TwoIndexes("TerminatingOrFailed"), kSlowToTerminate);
  cluster.Pass(5s);
  cluster.DeletePod(cluster.ActivePods()[0]);
  cluster.Pass(12s);
  EXPECT_EQ(cluster.Counts(), "active 2 ready 2 terminating 1 failed 1");
}

// KEP-3939, unit d: If feature is off verify existing behavior. The stored value is kept and does not count.
TEST(JobPodReplacement, UnitDWithTheGateOffAStoredPolicyDoesNotCount) {
  JobCluster cluster({.gates = kOff});
  cluster.AddJob(TwoIndexes("Failed"), kSlowToTerminate);
  cluster.Pass(5s);
  cluster.DeletePod(cluster.ActivePods()[0]);
  cluster.Pass(12s);
  EXPECT_EQ(cluster.Counts(), "active 2 ready 2 failed 1");
  EXPECT_EQ((*cluster.Job())["spec"]["podReplacementPolicy"], "Failed");
}

// KEP-3939, unit e: Count terminating pods even if terminating Pod considered failed when
// `JobPodReplacementPolicy` is disabled. The status does not have the count then, but the terminal condition
// waits for these pods while JobManagedBy is on.
TEST(JobPodReplacement, UnitEWithTheGateOffTheTerminalConditionStillWaitsForTerminatingPods) {
  JobCluster cluster({.gates = kOff});
  cluster.AddJob({{"activeDeadlineSeconds", 10}}, kSlowToTerminate);
  cluster.Pass(1min);
  EXPECT_EQ(cluster.Conditions(), "FailureTarget(DeadlineExceeded)");
  EXPECT_EQ(cluster.Counts(), "ready 0 failed 1");
  cluster.Release(Terminating(cluster)[0]);
  cluster.Idle();
  EXPECT_EQ(cluster.Conditions(), "FailureTarget(DeadlineExceeded) Failed(DeadlineExceeded)");
}

TEST(JobPodReplacement, WithBothGatesOffNothingIsWaitedFor) {
  const char* off = "JobPodReplacementPolicy=false,JobManagedBy=false";
  JobCluster cluster({.gates = off, .apiserver_gates = off});
  cluster.AddJob({{"activeDeadlineSeconds", 10}}, kSlowToTerminate);
  cluster.Pass(1min);
  EXPECT_EQ(cluster.Conditions(), "Failed(DeadlineExceeded)");
  EXPECT_EQ(cluster.Counts(), "ready 0 failed 1");
}

// KEP-3939, unit f: Count terminating pods even if terminating Pod not considered failed when
// `JobPodReplacementPolicy` is enabled.
TEST(JobPodReplacement, UnitFUnderFailedATerminatingPodIsCountedAsTerminatingAndNotAsFailed) {
  JobCluster cluster;
  cluster.AddJob(
      {{"podFailurePolicy",
        {{"rules", {{{"action", "FailJob"}, {"onExitCodes", {{"operator", "In"}, {"values", {42}}}}}}}}}},
      kSlowToTerminate);
  cluster.Pass(5s);
  EXPECT_EQ((*cluster.Job())["spec"]["podReplacementPolicy"], "Failed")
      << "the default with a podFailurePolicy";
  cluster.DeletePod(cluster.ActivePods()[0]);
  cluster.Pass(10min);
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 1");
  cluster.Release(Terminating(cluster)[0], 42);
  cluster.Idle();
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 failed 1");
  EXPECT_EQ(cluster.Conditions(), "FailureTarget(PodFailurePolicy) Failed(PodFailurePolicy)");
}

}  // namespace
}  // namespace terrarium::controllers::job
