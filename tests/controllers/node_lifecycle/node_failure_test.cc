// A node fails: the states of its pods from the first missed heartbeat to their deletion.

#include <gtest/gtest.h>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "tests/controllers/node_lifecycle/node_testing.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::StringAt;
using testbed::Testbed;
using namespace std::chrono_literals;

// A pod on a failed node that the controller has detected: no heartbeat for 50 s, checked every 5 s.
void LoseNode(Testbed& bed) {
  bed.Must(bed.Create("pods", "default", PodOn("web", "node-0")));
  bed.clock().Advance(30s);
  ASSERT_EQ(StringAt(PodOf(bed, "web"), "status", "phase"), "Running");
  FailNode(bed, "node-0");
  bed.clock().RunUntil(
      [&] { return TaintsOf(bed, "node-0").contains("node.kubernetes.io/unreachable:NoExecute"); }, 1min);
}

bool IsDeleting(Testbed& bed, const char* pod) { return bed.Get("pods", "default", pod)->header().deleting; }

TEST(NodeFailure, PodsAreDeletedAfterTheirTolerationAndStayTerminating) {
  Testbed bed({.nodes = 3});
  LoseNode(bed);
  bed.clock().Advance(299s);
  EXPECT_FALSE(IsDeleting(bed, "web"));
  bed.clock().Advance(2s);
  ASSERT_TRUE(IsDeleting(bed, "web"));
  Json pod = PodOf(bed, "web");
  const Json* target = api::FindCondition(pod, "DisruptionTarget");
  ASSERT_NE(target, nullptr);
  EXPECT_EQ(StringAt(*target, "status"), "True");
  EXPECT_EQ(StringAt(*target, "reason"), "DeletionByTaintManager");
  EXPECT_EQ(StringAt(*target, "message"), "Taint manager: deleting due to NoExecute taint");
  EXPECT_TRUE(EventsAbout(bed, "web").contains("TaintManagerEviction: Marking for deletion Pod default/web"));
  // No kubelet reports that the pod has ended.
  bed.clock().Advance(1h);
  EXPECT_EQ(StringAt(PodOf(bed, "web"), "status", "phase"), "Running");
}

// When node-1 was marked as Unknown, after `life` of its cluster and then its failure.
std::string MarkedAt(Testbed& bed, bool skip, api::Duration life) {
  auto pass = [&](api::Duration time) {
    if (skip) {
      bed.clock().Advance(time);
    } else {
      bed.clock().RunUntil([] { return false; }, time);
    }
  };
  pass(life);
  FailNode(bed, "node-1");
  pass(10min);
  Json node = NodeOf(bed, "node-1");
  return std::string(StringAt(*api::FindCondition(node, "Ready"), "lastTransitionTime"));
}

TEST(NodeFailure, IsNoticedAtTheSameTimeByAClockThatSkipsHeartbeats) {
  for (api::Duration life : {20min + 0s, 21min + 4s, 33min + 7s, 61min + 59s}) {
    Testbed skipping({.nodes = 3}), counting({.nodes = 3});
    EXPECT_EQ(MarkedAt(skipping, true, life), MarkedAt(counting, false, life)) << life / 1s;
    EXPECT_EQ(TaintsOf(skipping, "node-1"), TaintsOf(counting, "node-1"));
    EXPECT_EQ(ConditionStatus(NodeOf(skipping, "node-0"), "Ready"), "True");
  }
}

TEST(NodeFailure, TheClusterIsNotIdleUntilThePodsAreDeleted) {
  Testbed bed({.nodes = 3});
  LoseNode(bed);
  auto outcome = bed.clock().RunUntilIdle(1h);
  EXPECT_EQ(outcome.why, testbed::RunOutcome::Why::kIdle);
  EXPECT_TRUE(IsDeleting(bed, "web"));
}

TEST(NodeFailure, ARecoveryInBetweenCancelsTheDeletion) {
  Testbed bed({.nodes = 3});
  LoseNode(bed);
  bed.clock().Advance(200s);
  RecoverNode(bed, "node-0");
  bed.clock().Advance(10min);
  EXPECT_FALSE(IsDeleting(bed, "web"));
  EXPECT_TRUE(
      EventsAbout(bed, "web").contains("TaintManagerEviction: Cancelling deletion of Pod default/web"));
  EXPECT_EQ(ConditionStatus(PodOf(bed, "web"), "Ready"), "True");
}

TEST(NodeFailure, ATerminatingPodEndsWhenItsNodeComesBack) {
  Testbed bed({.nodes = 3});
  LoseNode(bed);
  PodHistory history(bed, "web");
  bed.clock().Advance(301s);
  ASSERT_TRUE(IsDeleting(bed, "web"));
  RecoverNode(bed, "node-0");
  bed.clock().Advance(1min);
  EXPECT_TRUE(history.Gone());
}

struct GateCase {
  const char* name;
  const char* gates;
  std::vector<std::string> phases;
  std::string reason;  // of DisruptionTarget in the last state; empty if absent
};

void PrintTo(const GateCase& c, std::ostream* out) { *out << c.name; }

class NodeRemoval : public testing::TestWithParam<GateCase> {};

TEST_P(NodeRemoval, TheRestIsCollectedWhenTheNodeObjectGoes) {
  const GateCase& c = GetParam();
  Testbed bed({.feature_gates = c.gates, .nodes = 3});
  LoseNode(bed);
  bed.clock().Advance(301s);
  ASSERT_TRUE(IsDeleting(bed, "web"));
  PodHistory history(bed, "web");
  bed.Must(bed.Delete("nodes", {"", "node-0"}));
  bed.clock().Advance(39s);
  EXPECT_FALSE(history.Gone());
  bed.clock().Advance(2s);
  EXPECT_TRUE(history.Gone());
  EXPECT_EQ(history.Phases(), c.phases);
  Json last = history.Last();
  const Json* target = api::FindCondition(last, "DisruptionTarget");
  EXPECT_EQ(target == nullptr ? "" : StringAt(*target, "reason"), c.reason);
}

INSTANTIATE_TEST_SUITE_P(
    NodeFailure, NodeRemoval,
    testing::Values(
        GateCase{
            "WithPodDisruptionConditions", "PodDisruptionConditions=true", {"Failed"}, "DeletionByPodGC"},
        GateCase{"WithJobPodReplacementPolicyAlone",
                 "PodDisruptionConditions=false,JobPodReplacementPolicy=true",
                 {"Failed"},
                 ""},
        GateCase{
            "WithNeither", "PodDisruptionConditions=false,JobPodReplacementPolicy=false", {"Running"}, ""}),
    [](const auto& info) { return info.param.name; });

TEST(NodeFailure, TheEndIsTheSameInWhateverOrderTheComponentsWork) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    Testbed bed({.seed = seed, .nodes = 3});
    PodHistory history(bed, "web");
    LoseNode(bed);
    bed.Must(bed.Create("pods", "default", PodOn("late", "node-0")));
    bed.clock().RunUntilIdle(1h);
    EXPECT_TRUE(IsDeleting(bed, "web"));
    EXPECT_TRUE(IsDeleting(bed, "late"));
    bed.Must(bed.Delete("nodes", {"", "node-0"}));
    bed.clock().RunUntilIdle(1h);
    EXPECT_TRUE(bed.List("pods").empty());
    EXPECT_EQ(history.Phases(), (std::vector<std::string>{"Pending", "Running", "Failed"}));
  }
}

TEST(NodeFailure, OrphansKeepTheClusterFromBeingIdle) {
  Testbed bed({.nodes = 3});
  LoseNode(bed);
  PodHistory history(bed, "web");
  bed.Must(bed.Delete("nodes", {"", "node-0"}));
  bed.clock().RunUntilIdle(1h);
  EXPECT_TRUE(history.Gone());
}

}  // namespace
}  // namespace terrarium::controllers
