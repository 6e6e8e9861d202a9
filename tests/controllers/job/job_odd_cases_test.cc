// Jobs at the edges: nothing to do, too many hands, pods that go in whatever phase, nodes that do.

#include <gtest/gtest.h>

#include "api/core_v1/pod.h"
#include "kubelet-fake/nodes/node_agent.h"
#include "tests/controllers/job/job_plane.h"

namespace terrarium::controllers::job {
namespace {

using namespace std::chrono_literals;
using api::ObjectPtr;
using testing::JobPlane;
using testing::Json;
using Strings = std::vector<std::string>;

constexpr const char* kCompleted = "SuccessCriteriaMet(CompletionsReached) Complete(CompletionsReached)";
const char* const kPolicies[] = {"Failed", "TerminatingOrFailed"};

const Json kOnNode0 = {{"nodeSelector", {{"kubernetes.io/hostname", "node-0"}}}};

std::string Phase(JobPlane& plane, const std::string& pod) {
  ObjectPtr object = plane.bed().Get("pods", "default", pod);
  return object == nullptr ? "gone" : std::string(api::StringAt(*object->Document(), "status", "phase"));
}

bool IsDisrupted(JobPlane& plane, const std::string& pod) {
  return api::FindCondition(*plane.bed().Get("pods", "default", pod)->Document(), "DisruptionTarget") != nullptr;
}

TEST(JobOddCases, NothingToCompleteIsCompleteAtOnce) {
  for (const char* mode : {"NonIndexed", "Indexed"}) {
    JobPlane plane;
    plane.AddJob({{"completions", 0}, {"parallelism", 3}, {"completionMode", mode}});
    plane.Idle();
    EXPECT_EQ(plane.Conditions(), kCompleted) << mode;
    EXPECT_EQ(plane.Counts(), "ready 0 terminating 0") << mode;
    EXPECT_EQ(plane.Status()["startTime"], plane.Status()["completionTime"]) << mode;
    EXPECT_TRUE(plane.Pods().empty()) << mode;
  }
}

TEST(JobOddCases, NothingToCompleteIsCompleteThoughItIsSuspended) {
  JobPlane plane;
  plane.AddJob({{"completions", 0}, {"suspend", true}});
  plane.Idle();
  EXPECT_EQ(plane.Conditions(), kCompleted);
  EXPECT_FALSE(plane.Status().contains("startTime"));
}

TEST(JobOddCases, WithoutHandsAJobStandsStillUntilItGetsSome) {
  JobPlane plane;
  plane.AddJob({{"completions", 2}, {"parallelism", 0}}, {{"run-for", "1s"}});
  plane.Idle();
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0");
  EXPECT_EQ(plane.Conditions(), "");
  EXPECT_TRUE(plane.Status().contains("startTime")) << "it is not suspended";
  plane.Patch({{"spec", {{"parallelism", 2}}}});
  plane.Idle();
  EXPECT_EQ(plane.Conditions(), kCompleted);
}

TEST(JobOddCases, AWorkQueueWithoutHandsStandsStillToo) {
  JobPlane plane;
  plane.AddJob({{"completions", nullptr}, {"parallelism", 0}});
  plane.Idle();
  EXPECT_EQ(plane.Conditions(), "");
  EXPECT_TRUE(plane.Pods().empty());
}

TEST(JobOddCases, NoMorePodsRunThanAreToComplete) {
  for (const char* mode : {"NonIndexed", "Indexed"}) {
    JobPlane plane;
    plane.AddJob({{"completions", 2}, {"parallelism", 9}, {"completionMode", mode}});
    plane.Idle();
    EXPECT_EQ(plane.Counts(), "active 2 ready 2 terminating 0") << mode;
    plane.EndPod(plane.ActivePods()[0], 0);
    plane.Idle();
    EXPECT_EQ(plane.Counts(), "active 1 ready 1 terminating 0 succeeded 1") << mode;
    EXPECT_EQ(plane.Pods().size(), 2u) << mode;
  }
}

TEST(JobOddCases, WithALimitOfZeroTheFirstRestartInPlaceIsTooMuch) {
  JobPlane plane;
  plane.AddJob({{"backoffLimit", 0}, {"template", {{"spec", {{"restartPolicy", "OnFailure"}}}}}},
               {{"run-for", "1s"}, {"exit-code", "1"}});
  plane.Idle();
  EXPECT_EQ(plane.Conditions(), "FailureTarget(BackoffLimitExceeded) Failed(BackoffLimitExceeded)");
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 failed 1");
}

TEST(JobOddCases, ADeadlineRunsOutWhileAJobWaitsForItsNextPod) {
  JobPlane plane;
  plane.AddJob({{"activeDeadlineSeconds", 30}}, {{"run-for", "1s"}, {"exit-code", "1"}});
  plane.Idle();
  // Pods end after 1 and 12 seconds; the third would come after 32.
  EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 failed 2");
  EXPECT_EQ(plane.Conditions(), "FailureTarget(DeadlineExceeded) Failed(DeadlineExceeded)");
  EXPECT_EQ(plane.bed().Now() - testbed::TestbedOptions().start, 31s) << "and the second that gathers events";
}

TEST(JobOddCases, ADeadlineRunsOutWhilePodsTerminate) {
  for (const char* policy : kPolicies) {
    JobPlane plane;
    plane.AddJob({{"activeDeadlineSeconds", 30}, {"podReplacementPolicy", policy}}, {{"hold", "terminating"}});
    plane.Pass(25s);
    const std::string pod = plane.ActivePods().at(0);
    plane.DeletePod(pod);
    plane.Pass(1min);
    EXPECT_EQ(plane.Conditions(), "FailureTarget(DeadlineExceeded)") << policy;
    plane.Release(pod, 1);
    plane.Idle();
    EXPECT_EQ(plane.Conditions(), "FailureTarget(DeadlineExceeded) Failed(DeadlineExceeded)") << policy;
    EXPECT_EQ(plane.Counts(), "ready 0 terminating 0 failed 1") << policy;
  }
}

// Pods that a Job gave up have lost their finalizer and hold their places all the same.
TEST(JobOddCases, ResumedWhileItsOldPodsTerminateAJobWaitsWhereThePolicySaysSo) {
  for (const char* mode : {"NonIndexed", "Indexed"}) {
    for (const char* policy : kPolicies) {
      SCOPED_TRACE(std::string(mode) + " " + policy);
      JobPlane plane;
      plane.AddJob({{"completions", 2}, {"parallelism", 2}, {"completionMode", mode}, {"podReplacementPolicy", policy}},
                   {{"hold", "terminating"}});
      plane.Pass(5s);
      const Strings old = plane.ActivePods();
      plane.Patch({{"spec", {{"suspend", true}}}});
      plane.Pass(5s);
      EXPECT_EQ(plane.Counts(), "ready 0 terminating 2");
      plane.Patch({{"spec", {{"suspend", false}}}});
      plane.Pass(1min);
      const bool waits = policy == kPolicies[0];
      EXPECT_EQ(plane.Counts(), waits ? "ready 0 terminating 2" : "active 2 ready 2 terminating 2");
      for (const std::string& pod : old) plane.Release(pod, 0);
      plane.Idle();
      EXPECT_EQ(plane.Counts(), "active 2 ready 2 terminating 0") << "they count neither way";
    }
  }
}

// A pod that no node will run is ended by pod garbage collection, so that its place is free under either policy.
TEST(JobOddCases, APodDeletedBeforeItHasANodeIsReplaced) {
  for (const char* policy : kPolicies) {
    JobPlane plane;
    plane.AddJob({{"podReplacementPolicy", policy},
                  {"template", {{"spec", {{"nodeSelector", {{"no", "where"}}}}}}}});
    plane.Pass(5s);
    const std::string first = plane.ActivePods().at(0);
    plane.DeletePod(first);
    plane.Pass(2s);
    const bool waits = policy == kPolicies[0];
    EXPECT_EQ(plane.Counts(), waits ? "ready 0 terminating 1" : "ready 0 terminating 0 failed 1") << policy;
    plane.Pass(40s);
    EXPECT_EQ(Phase(plane, first), "gone") << policy;
    EXPECT_EQ(plane.Counts(), "active 1 ready 0 terminating 0 failed 1") << policy;
  }
}

TEST(JobOddCases, APodDeletedByForceWhileItRunsIsReplaced) {
  for (const char* policy : kPolicies) {
    JobPlane plane;
    plane.AddJob({{"podReplacementPolicy", policy}}, {{"stop-exit-code", "137"}});
    plane.Pass(5s);
    plane.DeletePod(plane.ActivePods().at(0), 0);
    plane.Idle();
    EXPECT_EQ(plane.Counts(), "active 1 ready 1 terminating 0 failed 1") << policy;
  }
}

TEST(JobOddCases, APodThatHasBeenCountedMayBeDeletedWithoutAWord) {
  JobPlane plane;
  plane.AddJob({{"completions", 3}, {"parallelism", 3}});
  plane.Pass(5s);
  const Strings pods = plane.ActivePods();
  plane.EndPod(pods[0], 0);
  plane.EndPod(pods[1], 1);
  plane.Idle();
  EXPECT_EQ(plane.Counts(), "active 2 ready 2 terminating 0 succeeded 1 failed 1");
  plane.DeletePod(pods[0]);
  plane.DeletePod(pods[1]);
  plane.Idle();
  EXPECT_EQ(Phase(plane, pods[0]), "gone");
  EXPECT_EQ(Phase(plane, pods[1]), "gone");
  EXPECT_EQ(plane.Counts(), "active 2 ready 2 terminating 0 succeeded 1 failed 1");
}

TEST(JobOddCases, APodThatEndedWhileNobodyLookedAndWasDeletedThenStillCounts) {
  JobPlane plane;
  plane.AddJob({{"completions", 3}, {"parallelism", 3}});
  plane.Pass(5s);
  const Strings pods = plane.ActivePods();
  plane.StopController();
  plane.EndPod(pods[0], 0);
  plane.EndPod(pods[1], 1);
  plane.Pass(5s);
  plane.DeletePod(pods[0]);
  plane.DeletePod(pods[1]);
  plane.Pass(5s);
  EXPECT_EQ(Phase(plane, pods[0]), "Succeeded") << "its finalizer keeps it";
  plane.StartController();
  plane.Idle();
  EXPECT_EQ(plane.Counts(), "active 2 ready 2 terminating 0 succeeded 1 failed 1");
  EXPECT_EQ(Phase(plane, pods[0]), "gone");
}

// The node is down: its pod is not ready, then to be deleted, and nobody confirms that it has ended.
TEST(JobOddCases, WhenANodeIsLostTheJobSaysSoStepByStep) {
  for (const char* policy : kPolicies) {
    SCOPED_TRACE(policy);
    const bool waits = policy == kPolicies[0];
    JobPlane plane;
    plane.AddJob({{"podReplacementPolicy", policy}, {"template", {{"spec", kOnNode0}}}});
    plane.Pass(5s);
    EXPECT_EQ(plane.Counts(), "active 1 ready 1 terminating 0");
    const std::string pod = plane.ActivePods().at(0);
    ASSERT_TRUE(plane.bed().nodes().Fail("node-0").ok());
    plane.Pass(2min);
    EXPECT_EQ(plane.Counts(), "active 1 ready 0 terminating 0");
    plane.Pass(10min);
    EXPECT_EQ(plane.Counts(), waits ? "ready 0 terminating 1" : "active 1 ready 0 terminating 1 failed 1");
    plane.bed().Must(plane.bed().Delete("nodes", {"", "node-0"}));
    plane.Pass(2min);
    EXPECT_EQ(Phase(plane, pod), "gone");
    EXPECT_EQ(plane.Counts(), "active 1 ready 0 terminating 0 failed 1") << "there is no node to run it";
  }
}

struct GatesCase {
  const char* gates;
  const char* phase;  // of a pod whose node is gone, held by a finalizer of somebody else's
  bool disrupted;
};

// KEP-3939, risks and mitigations: with either gate pods end before they are deleted, with PodDisruptionConditions they
// say why; and status.terminating is counted whichever way that is.
class JobsOnALostNode : public ::testing::TestWithParam<GatesCase> {};

TEST_P(JobsOnALostNode, AreReplacedAndTheirPodsEndAsTheGatesSay) {
  const GatesCase& c = GetParam();
  const bool counts_terminating = std::string(c.gates).find("JobPodReplacementPolicy=false") == std::string::npos;
  for (const char* policy : kPolicies) {
    SCOPED_TRACE(policy);
    JobPlane plane({.gates = c.gates, .apiserver_gates = c.gates});
    plane.AddJob({{"podReplacementPolicy", policy},
                  {"template",
                   {{"metadata", {{"finalizers", {"example.com/look"}}}},
                    {"spec", kOnNode0}}}});
    plane.Pass(5s);
    const std::string pod = plane.ActivePods().at(0);
    plane.bed().Must(plane.bed().Delete("nodes", {"", "node-0"}));
    plane.Pass(2min);
    EXPECT_EQ(Phase(plane, pod), c.phase);
    EXPECT_EQ(IsDisrupted(plane, pod), c.disrupted);
    EXPECT_EQ(plane.ActivePods().size(), 1u) << "another one waits for the node";
    const bool terminates = c.phase == std::string("Running");
    std::string counts = "active 1 ready 0";
    if (counts_terminating) counts += terminates ? " terminating 1" : " terminating 0";
    EXPECT_EQ(plane.Counts(), counts + " failed 1");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Gates, JobsOnALostNode,
    ::testing::Values(GatesCase{"", "Failed", true}, GatesCase{"PodDisruptionConditions=false", "Failed", false},
                      GatesCase{"JobPodReplacementPolicy=false", "Failed", true},
                      GatesCase{"PodDisruptionConditions=false,JobPodReplacementPolicy=false", "Running", false}));

}  // namespace
}  // namespace terrarium::controllers::job
