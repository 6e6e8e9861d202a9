// Edge cases of Jobs: no work, several owners, pods deleted in every phase, nodes that fail.

#include <gtest/gtest.h>

#include "api/core_v1/pod.h"
#include "kubelet-fake/nodes/node_agent.h"
#include "tests/controllers/job/job_cluster.h"

namespace terrarium::controllers::job {
namespace {

using namespace std::chrono_literals;
using api::ObjectPtr;
using testing::JobCluster;
using testing::Json;
using Strings = std::vector<std::string>;

constexpr const char* kCompleted = "SuccessCriteriaMet(CompletionsReached) Complete(CompletionsReached)";
const char* const kPolicies[] = {"Failed", "TerminatingOrFailed"};

const Json kOnNode0 = {{"nodeSelector", {{"kubernetes.io/hostname", "node-0"}}}};

std::string PhaseOf(JobCluster& cluster, const std::string& pod) {
  ObjectPtr object = cluster.bed().Get("pods", "default", pod);
  return object == nullptr ? "gone" : std::string(api::StringAt(*object->Document(), "status", "phase"));
}

bool IsDisrupted(JobCluster& cluster, const std::string& pod) {
  return api::FindCondition(*cluster.bed().Get("pods", "default", pod)->Document(), "DisruptionTarget") !=
         nullptr;
}

TEST(JobOddCases, AJobOfZeroCompletionsCompletesImmediately) {
  for (const char* mode : {"NonIndexed", "Indexed"}) {
    JobCluster cluster;
    cluster.AddJob({{"completions", 0}, {"parallelism", 3}, {"completionMode", mode}});
    cluster.Idle();
    EXPECT_EQ(cluster.Conditions(), kCompleted) << mode;
    EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0") << mode;
    EXPECT_EQ(cluster.Status()["startTime"], cluster.Status()["completionTime"]) << mode;
    EXPECT_TRUE(cluster.Pods().empty()) << mode;
  }
}

TEST(JobOddCases, ASuspendedJobOfZeroCompletionsCompletes) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 0}, {"suspend", true}});
  cluster.Idle();
  EXPECT_EQ(cluster.Conditions(), kCompleted);
  EXPECT_FALSE(cluster.Status().contains("startTime"));
}

TEST(JobOddCases, WithParallelismZeroAJobWaits) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 2}, {"parallelism", 0}}, {{"run-for", "1s"}});
  cluster.Idle();
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0");
  EXPECT_EQ(cluster.Conditions(), "");
  EXPECT_TRUE(cluster.Status().contains("startTime")) << "it is not suspended";
  cluster.Patch({{"spec", {{"parallelism", 2}}}});
  cluster.Idle();
  EXPECT_EQ(cluster.Conditions(), kCompleted);
}

TEST(JobOddCases, WithParallelismZeroAWorkQueueWaits) {
  JobCluster cluster;
  cluster.AddJob({{"completions", nullptr}, {"parallelism", 0}});
  cluster.Idle();
  EXPECT_EQ(cluster.Conditions(), "");
  EXPECT_TRUE(cluster.Pods().empty());
}

TEST(JobOddCases, NoMorePodsRunThanAreToComplete) {
  for (const char* mode : {"NonIndexed", "Indexed"}) {
    JobCluster cluster;
    cluster.AddJob({{"completions", 2}, {"parallelism", 9}, {"completionMode", mode}});
    cluster.Idle();
    EXPECT_EQ(cluster.Counts(), "active 2 ready 2 terminating 0") << mode;
    cluster.EndPod(cluster.ActivePods()[0], 0);
    cluster.Idle();
    EXPECT_EQ(cluster.Counts(), "active 1 ready 1 terminating 0 succeeded 1") << mode;
    EXPECT_EQ(cluster.Pods().size(), 2u) << mode;
  }
}

TEST(JobOddCases, WithALimitOfZeroTheFirstRestartInPlaceIsTooMuch) {
  JobCluster cluster;
  cluster.AddJob({{"backoffLimit", 0}, {"template", {{"spec", {{"restartPolicy", "OnFailure"}}}}}},
                 {{"run-for", "1s"}, {"exit-code", "1"}});
  cluster.Idle();
  EXPECT_EQ(cluster.Conditions(), "FailureTarget(BackoffLimitExceeded) Failed(BackoffLimitExceeded)");
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 failed 1");
}

TEST(JobOddCases, ADeadlineRunsOutWhileAJobWaitsForItsNextPod) {
  JobCluster cluster;
  cluster.AddJob({{"activeDeadlineSeconds", 30}}, {{"run-for", "1s"}, {"exit-code", "1"}});
  cluster.Idle();
  // Pods end after 1 and 12 seconds. The third would be created after 32.
  EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 failed 2");
  EXPECT_EQ(cluster.Conditions(), "FailureTarget(DeadlineExceeded) Failed(DeadlineExceeded)");
  EXPECT_EQ(cluster.bed().Now() - testbed::TestbedOptions().start, 31s)
      << "and the second that gathers events";
}

TEST(JobOddCases, ADeadlineRunsOutWhilePodsTerminate) {
  for (const char* policy : kPolicies) {
    JobCluster cluster;
    cluster.AddJob({{"activeDeadlineSeconds", 30}, {"podReplacementPolicy", policy}},
                   {{"hold", "terminating"}});
    cluster.Pass(25s);
    const std::string pod = cluster.ActivePods().at(0);
    cluster.DeletePod(pod);
    cluster.Pass(1min);
    EXPECT_EQ(cluster.Conditions(), "FailureTarget(DeadlineExceeded)") << policy;
    cluster.Release(pod, 1);
    cluster.Idle();
    EXPECT_EQ(cluster.Conditions(), "FailureTarget(DeadlineExceeded) Failed(DeadlineExceeded)") << policy;
    EXPECT_EQ(cluster.Counts(), "ready 0 terminating 0 failed 1") << policy;
  }
}

// Pods that the Job has given up lack the finalizer, but still occupy their slots.
TEST(JobOddCases, ResumedWhileItsOldPodsTerminateAJobWaitsUnderPolicyFailed) {
  for (const char* mode : {"NonIndexed", "Indexed"}) {
    for (const char* policy : kPolicies) {
      SCOPED_TRACE(std::string(mode) + " " + policy);
      JobCluster cluster;
      cluster.AddJob({{"completions", 2},
                      {"parallelism", 2},
                      {"completionMode", mode},
                      {"podReplacementPolicy", policy}},
                     {{"hold", "terminating"}});
      cluster.Pass(5s);
      const Strings old = cluster.ActivePods();
      cluster.Patch({{"spec", {{"suspend", true}}}});
      cluster.Pass(5s);
      EXPECT_EQ(cluster.Counts(), "ready 0 terminating 2");
      cluster.Patch({{"spec", {{"suspend", false}}}});
      cluster.Pass(1min);
      const bool waits = policy == kPolicies[0];
      EXPECT_EQ(cluster.Counts(), waits ? "ready 0 terminating 2" : "active 2 ready 2 terminating 2");
      for (const std::string& pod : old) cluster.Release(pod, 0);
      cluster.Idle();
      EXPECT_EQ(cluster.Counts(), "active 2 ready 2 terminating 0") << "they count neither way";
    }
  }
}

// Pod garbage collection ends a pod that no node will run, so that its slot is free under either policy.
TEST(JobOddCases, APodDeletedBeforeItHasANodeIsReplaced) {
  for (const char* policy : kPolicies) {
    JobCluster cluster;
    cluster.AddJob(
        {{"podReplacementPolicy", policy}, {"template", {{"spec", {{"nodeSelector", {{"no", "where"}}}}}}}});
    cluster.Pass(5s);
    const std::string first = cluster.ActivePods().at(0);
    cluster.DeletePod(first);
    cluster.Pass(2s);
    const bool waits = policy == kPolicies[0];
    EXPECT_EQ(cluster.Counts(), waits ? "ready 0 terminating 1" : "ready 0 terminating 0 failed 1") << policy;
    cluster.Pass(40s);
    EXPECT_EQ(PhaseOf(cluster, first), "gone") << policy;
    EXPECT_EQ(cluster.Counts(), "active 1 ready 0 terminating 0 failed 1") << policy;
  }
}

TEST(JobOddCases, APodDeletedByForceWhileItRunsIsReplaced) {
  for (const char* policy : kPolicies) {
    JobCluster cluster;
    cluster.AddJob({{"podReplacementPolicy", policy}}, {{"stop-exit-code", "137"}});
    cluster.Pass(5s);
    cluster.DeletePod(cluster.ActivePods().at(0), 0);
    cluster.Idle();
    EXPECT_EQ(cluster.Counts(), "active 1 ready 1 terminating 0 failed 1") << policy;
  }
}

TEST(JobOddCases, DeletingACountedPodChangesNothing) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 3}, {"parallelism", 3}});
  cluster.Pass(5s);
  const Strings pods = cluster.ActivePods();
  cluster.EndPod(pods[0], 0);
  cluster.EndPod(pods[1], 1);
  cluster.Idle();
  EXPECT_EQ(cluster.Counts(), "active 2 ready 2 terminating 0 succeeded 1 failed 1");
  cluster.DeletePod(pods[0]);
  cluster.DeletePod(pods[1]);
  cluster.Idle();
  EXPECT_EQ(PhaseOf(cluster, pods[0]), "gone");
  EXPECT_EQ(PhaseOf(cluster, pods[1]), "gone");
  EXPECT_EQ(cluster.Counts(), "active 2 ready 2 terminating 0 succeeded 1 failed 1");
}

TEST(JobOddCases, APodThatEndedAndWasDeletedDuringAnOutageStillCounts) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 3}, {"parallelism", 3}});
  cluster.Pass(5s);
  const Strings pods = cluster.ActivePods();
  cluster.StopController();
  cluster.EndPod(pods[0], 0);
  cluster.EndPod(pods[1], 1);
  cluster.Pass(5s);
  cluster.DeletePod(pods[0]);
  cluster.DeletePod(pods[1]);
  cluster.Pass(5s);
  EXPECT_EQ(PhaseOf(cluster, pods[0]), "Succeeded") << "its finalizer keeps it";
  cluster.StartController();
  cluster.Idle();
  EXPECT_EQ(cluster.Counts(), "active 2 ready 2 terminating 0 succeeded 1 failed 1");
  EXPECT_EQ(PhaseOf(cluster, pods[0]), "gone");
}

// The node is down: its pod is not ready, then being deleted, and no kubelet confirms that it has ended.
TEST(JobOddCases, TheStatusFollowsTheLossOfANode) {
  for (const char* policy : kPolicies) {
    SCOPED_TRACE(policy);
    const bool waits = policy == kPolicies[0];
    JobCluster cluster;
    cluster.AddJob({{"podReplacementPolicy", policy}, {"template", {{"spec", kOnNode0}}}});
    cluster.Pass(5s);
    EXPECT_EQ(cluster.Counts(), "active 1 ready 1 terminating 0");
    const std::string pod = cluster.ActivePods().at(0);
    ASSERT_TRUE(cluster.bed().nodes().Fail("node-0").ok());
    cluster.Pass(2min);
    EXPECT_EQ(cluster.Counts(), "active 1 ready 0 terminating 0");
    cluster.Pass(10min);
    EXPECT_EQ(cluster.Counts(), waits ? "ready 0 terminating 1" : "active 1 ready 0 terminating 1 failed 1");
    cluster.bed().Must(cluster.bed().Delete("nodes", {"", "node-0"}));
    cluster.Pass(2min);
    EXPECT_EQ(PhaseOf(cluster, pod), "gone");
    EXPECT_EQ(cluster.Counts(), "active 1 ready 0 terminating 0 failed 1") << "there is no node to run it";
  }
}

struct GatesCase {
  const char* gates;
  const char* phase;  // of a pod whose node is gone, held by a third-party finalizer
  bool disrupted;
};

// KEP-3939, risks and mitigations: with either gate pods end before they are deleted. With
// PodDisruptionConditions they have the condition. status.terminating is counted in both cases.
class JobsOnALostNode : public ::testing::TestWithParam<GatesCase> {};

TEST_P(JobsOnALostNode, AreReplacedAndTheirPodsEndAccordingToTheGates) {
  const GatesCase& c = GetParam();
  const bool counts_terminating =
      std::string(c.gates).find("JobPodReplacementPolicy=false") == std::string::npos;
  for (const char* policy : kPolicies) {
    SCOPED_TRACE(policy);
    JobCluster cluster({.gates = c.gates, .apiserver_gates = c.gates});
    cluster.AddJob(
        {{"podReplacementPolicy", policy},
         {"template", {{"metadata", {{"finalizers", {"example.com/look"}}}}, {"spec", kOnNode0}}}});
    cluster.Pass(5s);
    const std::string pod = cluster.ActivePods().at(0);
    cluster.bed().Must(cluster.bed().Delete("nodes", {"", "node-0"}));
    cluster.Pass(2min);
    EXPECT_EQ(PhaseOf(cluster, pod), c.phase);
    EXPECT_EQ(IsDisrupted(cluster, pod), c.disrupted);
    EXPECT_EQ(cluster.ActivePods().size(), 1u) << "another one waits for the node";
    const bool terminates = c.phase == std::string("Running");
    std::string counts = "active 1 ready 0";
    if (counts_terminating) counts += terminates ? " terminating 1" : " terminating 0";
    EXPECT_EQ(cluster.Counts(), counts + " failed 1");
  }
}

INSTANTIATE_TEST_SUITE_P(Gates, JobsOnALostNode,
                         ::testing::Values(GatesCase{"", "Failed", true},
                                           GatesCase{"PodDisruptionConditions=false", "Failed", false},
                                           GatesCase{"JobPodReplacementPolicy=false", "Failed", true},
                                           GatesCase{
                                               "PodDisruptionConditions=false,JobPodReplacementPolicy=false",
                                               "Running", false}));

}  // namespace
}  // namespace terrarium::controllers::job
