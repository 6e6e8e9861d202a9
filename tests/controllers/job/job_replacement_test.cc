// KEP-3939, podReplacementPolicy: its integration cases and its e2e example, step by step, and its list of unit tests.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/controllers/job/job_plane.h"

namespace terrarium::controllers::job {
namespace {

using namespace std::chrono_literals;
using api::ObjectPtr;
using testing::JobPlane;
using testing::JobPlaneOptions;
using testing::Json;
using Strings = std::vector<std::string>;

constexpr const char* kOff = "JobPodReplacementPolicy=false";

// Pods that run until they are deleted, and then until they are released.
const Json kSlowToTerminate = {{"hold", "terminating"}};

Json TwoPods(const char* policy) {
  return {{"completions", 2}, {"parallelism", 2}, {"podReplacementPolicy", policy}};
}

Json TwoIndexes(const char* policy) {
  Json spec = TwoPods(policy);
  spec["completionMode"] = "Indexed";
  return spec;
}

void DeleteAll(JobPlane& plane) {
  for (const std::string& pod : plane.ActivePods()) plane.DeletePod(pod);
}

// Pods that are being deleted and have not ended.
Strings Terminating(JobPlane& plane) {
  Strings out;
  for (const ObjectPtr& pod : plane.Pods()) {
    std::string_view phase = api::StringAt(*pod->Document(), "status", "phase");
    if (pod->header().deleting && phase != "Succeeded" && phase != "Failed") out.push_back(pod->header().name);
  }
  return out;
}

std::string CreatedFor(JobPlane& plane, const char* reason) {
  return plane.Metric("job_controller_job_pods_creation_total{reason=\"" + std::string(reason) +
                      "\",status=\"succeeded\"}");
}

TEST(JobPodReplacement, IntegrationCaseGateOnAndPolicyFailed) {
  JobPlane plane;
  // 1. Job starts pods that takes a while to terminate
  plane.AddJob(TwoPods("Failed"), kSlowToTerminate);
  plane.Pass(5s);
  ASSERT_EQ(plane.ActivePods().size(), 2u);
  // 2. Delete pods
  DeleteAll(plane);
  plane.Pass(10min);
  // 3. Verify that `terminating` is tracked
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 2");
  // 4. Verify that pod creation only occurs once pod is fully terminated.
  EXPECT_TRUE(plane.ActivePods().empty());
  plane.Release(Terminating(plane)[0], 1);
  plane.Pass(11s);
  EXPECT_EQ(plane.Counts(), "active 1 ready 1 terminating 1 failed 1");
  plane.Release(Terminating(plane)[0], 1);
  plane.Pass(21s);
  EXPECT_EQ(plane.Counts(), "active 2 ready 2 terminating 0 failed 2");
  EXPECT_EQ(plane.ActivePods().size(), 2u);
  EXPECT_EQ(CreatedFor(plane, "new"), "2");
  EXPECT_EQ(CreatedFor(plane, "recreate_failed"), "2");
}

TEST(JobPodReplacement, IntegrationCaseGateOnAndPolicyTerminatingOrFailed) {
  JobPlane plane;
  // 1. Job starts pods that takes a while to terminate
  plane.AddJob(TwoPods("TerminatingOrFailed"), kSlowToTerminate);
  plane.Pass(5s);
  // 2. Delete pods
  DeleteAll(plane);
  plane.Pass(1s);
  // 3. Verify that `terminating` is tracked
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 2 failed 2");
  // 4. Verify that pod creation only occurs once deletion happens.
  EXPECT_TRUE(plane.ActivePods().empty()) << "two failures: twenty seconds";
  plane.Pass(20s);
  EXPECT_EQ(plane.Counts(), "active 2 ready 2 terminating 2 failed 2");
  EXPECT_EQ(CreatedFor(plane, "recreate_terminating_or_failed"), "2");
  // Terminating pods that succeed later are not counted again.
  for (const std::string& pod : Terminating(plane)) plane.Release(pod, 0);
  plane.Pass(5s);
  EXPECT_EQ(plane.Counts(), "active 2 ready 2 terminating 0 failed 2");
  EXPECT_EQ(plane.Pods().size(), 2u);
}

TEST(JobPodReplacement, IntegrationCaseGateOff) {
  JobPlane plane({.gates = kOff, .apiserver_gates = kOff});
  // 1. Job starts pods that takes a while to terminate
  plane.AddJob(TwoPods("Failed"), kSlowToTerminate);
  plane.Pass(5s);
  EXPECT_FALSE((*plane.Job())["spec"].contains("podReplacementPolicy"));
  // 2. Delete pods
  DeleteAll(plane);
  plane.Pass(21s);
  // 3. Verify that `terminating` is not tracked
  EXPECT_EQ(Terminating(plane).size(), 2u);
  // 4. Verify that pod creation only occurs once deletion happens.
  EXPECT_EQ(plane.Counts(), "active 2 ready 2 failed 2");
  EXPECT_EQ(CreatedFor(plane, "new"), "4") << "without the gate nobody tells what pods are made for";
}

TEST(JobPodReplacement, IntegrationCaseDisableAndReenable) {
  JobPlane plane;
  // 1. Create Job with `podReplacementPolicy: Failed`
  Json spec = TwoPods("Failed");
  spec["completions"] = 4;
  spec["parallelism"] = 4;
  plane.AddJob(spec, kSlowToTerminate);
  // 2. Job starts pods that takes a while to terminate
  plane.Pass(5s);
  const Strings first = plane.ActivePods();
  ASSERT_EQ(first.size(), 4u);
  EXPECT_EQ(plane.Counts(), "active 4 ready 4 terminating 0");
  // 3. Restart controller and disable `JobPodReplacementPolicy`
  plane.RestartController(kOff);
  // 4. Delete some pods
  plane.DeletePod(first[0]);
  plane.DeletePod(first[1]);
  // 5. Verify that terminating pods count as failed and pods are recreated.
  plane.Pass(21s);
  EXPECT_EQ(Terminating(plane).size(), 2u);
  EXPECT_EQ(plane.Counts(), "active 4 ready 4 failed 2") << "status.terminating has gone";
  // 6. Restart controller and reenable `JobPodReplacementPolicy`
  plane.RestartController();
  plane.Pass(2s);
  EXPECT_EQ(plane.Counts(), "active 4 ready 4 terminating 2 failed 2");
  // 7. Terminate pods with phase Succeeded.
  plane.Release(first[0], 0);
  plane.Release(first[1], 0);
  plane.Pass(2s);
  // 8. Verify that pods still count as failed.
  EXPECT_EQ(plane.Counts(), "active 4 ready 4 terminating 0 failed 2");
  // 9. Delete remaining Pods.
  DeleteAll(plane);
  plane.Pass(10min);
  // 10. Verify that `terminating` is tracked.
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 4 failed 2");
  // 11. Verify that pod creation only occurs once pod is fully terminated.
  EXPECT_TRUE(plane.ActivePods().empty());
  // 12. Verify that pod creation only occurs once deletion happens.
  for (const std::string& pod : Terminating(plane)) plane.Release(pod, 1);
  plane.Pass(10min);
  EXPECT_EQ(plane.Counts(), "active 4 ready 4 terminating 0 failed 6");
}

// KEP-3939, e2e: a deletion does not trigger a new pod until the old one is fully gone.
TEST(JobPodReplacement, EndToEndExampleOfSlowCleanup) {
  for (const char* policy : {"Failed", "TerminatingOrFailed"}) {
    JobPlane plane;
    plane.AddJob({{"completions", 1},
                  {"parallelism", 1},
                  {"backoffLimit", 2},
                  {"podReplacementPolicy", policy},
                  {"template", {{"spec", {{"terminationGracePeriodSeconds", 120}}}}}},
                 {{"stop-after", "1m"}, {"stop-exit-code", "143"}});
    plane.Pass(10s);
    const std::string first = plane.ActivePods().at(0);
    plane.DeletePod(first);
    plane.Pass(12s);
    if (std::string(policy) == "TerminatingOrFailed") {
      EXPECT_EQ(plane.ActivePods().size(), 1u);
      EXPECT_NE(plane.bed().Get("pods", "default", first), nullptr);
      continue;
    }
    EXPECT_EQ(plane.Counts(), "ready 0 terminating 1");
    plane.bed().clock().RunUntil([&] { return !plane.ActivePods().empty(); }, 1h);
    EXPECT_EQ(plane.bed().Get("pods", "default", first), nullptr);
    EXPECT_EQ(plane.bed().Now() - testbed::TestbedOptions().start, 80s) << "it took a minute to stop, and ten seconds";
  }
}

// KEP-3939, unit a: Verify that terminating pods are in fact counted in the status. Also when nothing else changes.
TEST(JobPodReplacement, UnitATerminatingPodsAreCountedInTheStatus) {
  for (const char* policy : {"Failed", "TerminatingOrFailed"}) {
    JobPlane plane;
    plane.AddJob({{"parallelism", 0}, {"completions", 5}, {"podReplacementPolicy", policy}}, kSlowToTerminate);
    plane.Patch({{"spec", {{"parallelism", 2}}}});
    plane.Pass(5s);
    plane.Patch({{"spec", {{"parallelism", 1}}}});
    plane.Pass(5s);
    EXPECT_EQ(plane.Counts(), "active 1 ready 1 terminating 1") << policy;
    plane.Release(Terminating(plane)[0]);
    plane.Pass(2s);
    EXPECT_EQ(plane.Counts(), "active 1 ready 1 terminating 0") << policy;
  }
}

// KEP-3939, unit b: Recreate pods only once pod is fully terminated (ie `Failed`). Per index where indexed.
TEST(JobPodReplacement, UnitBAnIndexIsRunAgainOnlyWhenItsPodHasFailed) {
  JobPlane plane;
  plane.AddJob(TwoIndexes("Failed"), kSlowToTerminate);
  plane.Pass(5s);
  plane.DeletePod(plane.ActivePods()[0]);
  plane.Pass(10min);
  EXPECT_EQ(plane.Counts(), "active 1 ready 1 terminating 1");
  plane.Patch({{"spec", {{"completions", 3}, {"parallelism", 3}}}});
  plane.Pass(5s);
  EXPECT_EQ(plane.Counts(), "active 2 ready 2 terminating 1");
  for (const std::string& pod : plane.ActivePods()) EXPECT_NE(pod.substr(0, 4), "j-0-") << "it waits, index 2 runs";
  plane.Release(Terminating(plane)[0], 1);
  plane.Pass(15s);
  EXPECT_EQ(plane.Counts(), "active 3 ready 3 terminating 0 failed 1");
}

// The wait before the replacement begins when the pod has failed.
TEST(JobPodReplacement, UnderFailedTheBackoffCountsFromTheFailureNotFromTheDeletion) {
  JobPlane plane;
  plane.AddJob({{"podReplacementPolicy", "Failed"}}, kSlowToTerminate);
  plane.Pass(5s);
  plane.DeletePod(plane.ActivePods()[0]);
  plane.Pass(55s);
  plane.Release(Terminating(plane)[0], 1);  // at 60 s
  plane.Pass(9s);
  EXPECT_TRUE(plane.ActivePods().empty());
  plane.Pass(1s);
  EXPECT_EQ(plane.ActivePods().size(), 1u);
}

// A terminating pod that succeeds has succeeded, where nobody has counted it before.
TEST(JobPodReplacement, UnderFailedATerminatingPodMaySucceed) {
  JobPlane plane;
  plane.AddJob(TwoPods("Failed"), kSlowToTerminate);
  plane.Pass(5s);
  DeleteAll(plane);
  plane.Pass(5s);
  for (const std::string& pod : Terminating(plane)) plane.Release(pod, 0);
  plane.Idle();
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 succeeded 2");
  EXPECT_EQ(plane.Conditions(), "SuccessCriteriaMet(CompletionsReached) Complete(CompletionsReached)");
  EXPECT_EQ(plane.FinalizersLeft(), 0);
}

// A suspended Job has no start time, and a finished one must have one.
TEST(JobPodReplacement, AJobMayEndWhileItIsSuspended) {
  JobPlane plane;
  plane.AddJob({{"podReplacementPolicy", "Failed"}}, kSlowToTerminate);
  plane.Pass(5s);
  DeleteAll(plane);
  plane.Patch({{"spec", {{"suspend", true}}}});
  plane.Pass(5s);
  EXPECT_EQ(plane.Conditions(), "Suspended(JobSuspended)");
  EXPECT_FALSE(plane.Status().contains("startTime"));
  plane.Release(Terminating(plane)[0], 0);
  plane.Idle();
  EXPECT_EQ(plane.Conditions(), "Suspended(JobSuspended) SuccessCriteriaMet(CompletionsReached) "
                                "Complete(CompletionsReached)");
}

// KEP-3939, unit c: Verify existing behavior with `TerminatingOrFailed`.
TEST(JobPodReplacement, UnitCUnderTerminatingOrFailedAnIndexRunsBesideItsTerminatingPod) {
  JobPlane plane;
  plane.AddJob(TwoIndexes("TerminatingOrFailed"), kSlowToTerminate);
  plane.Pass(5s);
  plane.DeletePod(plane.ActivePods()[0]);
  plane.Pass(12s);
  EXPECT_EQ(plane.Counts(), "active 2 ready 2 terminating 1 failed 1");
}

// KEP-3939, unit d: If feature is off verify existing behavior. The stored value is kept and does not count.
TEST(JobPodReplacement, UnitDWithTheGateOffAStoredPolicyDoesNotCount) {
  JobPlane plane({.gates = kOff});
  plane.AddJob(TwoIndexes("Failed"), kSlowToTerminate);
  plane.Pass(5s);
  plane.DeletePod(plane.ActivePods()[0]);
  plane.Pass(12s);
  EXPECT_EQ(plane.Counts(), "active 2 ready 2 failed 1");
  EXPECT_EQ((*plane.Job())["spec"]["podReplacementPolicy"], "Failed");
}

// KEP-3939, unit e: Count terminating pods even if terminating Pod considered failed when `JobPodReplacementPolicy` is
// disabled. They are not told then, but the terminal condition waits for them while JobManagedBy is on.
TEST(JobPodReplacement, UnitEWithTheGateOffTheTerminalConditionStillWaitsForTerminatingPods) {
  JobPlane plane({.gates = kOff});
  plane.AddJob({{"activeDeadlineSeconds", 10}}, kSlowToTerminate);
  plane.Pass(1min);
  EXPECT_EQ(plane.Conditions(), "FailureTarget(DeadlineExceeded)");
  EXPECT_EQ(plane.Counts(), "ready 0 failed 1");
  plane.Release(Terminating(plane)[0]);
  plane.Idle();
  EXPECT_EQ(plane.Conditions(), "FailureTarget(DeadlineExceeded) Failed(DeadlineExceeded)");
}

TEST(JobPodReplacement, WithBothGatesOffNothingIsWaitedFor) {
  const char* off = "JobPodReplacementPolicy=false,JobManagedBy=false";
  JobPlane plane({.gates = off, .apiserver_gates = off});
  plane.AddJob({{"activeDeadlineSeconds", 10}}, kSlowToTerminate);
  plane.Pass(1min);
  EXPECT_EQ(plane.Conditions(), "Failed(DeadlineExceeded)");
  EXPECT_EQ(plane.Counts(), "ready 0 failed 1");
}

// KEP-3939, unit f: Count terminating pods even if terminating Pod not considered failed when `JobPodReplacementPolicy`
// is enabled.
TEST(JobPodReplacement, UnitFUnderFailedATerminatingPodIsCountedAsTerminatingAndNotAsFailed) {
  JobPlane plane;
  plane.AddJob({{"podFailurePolicy",
                 {{"rules", {{{"action", "FailJob"}, {"onExitCodes", {{"operator", "In"}, {"values", {42}}}}}}}}}},
               kSlowToTerminate);
  plane.Pass(5s);
  EXPECT_EQ((*plane.Job())["spec"]["podReplacementPolicy"], "Failed") << "the default with a podFailurePolicy";
  plane.DeletePod(plane.ActivePods()[0]);
  plane.Pass(10min);
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 1");
  plane.Release(Terminating(plane)[0], 42);
  plane.Idle();
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 failed 1");
  EXPECT_EQ(plane.Conditions(), "FailureTarget(PodFailurePolicy) Failed(PodFailurePolicy)");
}

}  // namespace
}  // namespace terrarium::controllers::job
