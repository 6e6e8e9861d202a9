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

using Taints = std::set<std::string>;

TEST(NodeLifecycle, AReadyNodeLosesTheTaintOfItsCreation) {
  Testbed bed({.nodes = 2});
  EXPECT_EQ(TaintsOf(bed, "node-0"), Taints{});
}

TEST(NodeLifecycle, WithoutTheControllerTheTaintStays) {
  Testbed bed({.controllers = "*,-node-lifecycle-controller", .nodes = 1});
  bed.clock().Advance(1min);
  EXPECT_EQ(TaintsOf(bed, "node-0"), Taints{"node.kubernetes.io/not-ready:NoSchedule"});
}

TEST(NodeLifecycle, ASilentNodeBecomesUnknownAndUnreachable) {
  Testbed bed({.nodes = 3});
  bed.Must(bed.Create("pods", "default", PodOn("web", "node-0")));
  bed.clock().Advance(60s);
  EXPECT_EQ(ConditionStatus(PodOf(bed, "web"), "Ready"), "True");
  FailNode(bed, "node-0");
  bed.clock().Advance(35s);
  EXPECT_EQ(ConditionStatus(NodeOf(bed, "node-0"), "Ready"), "True");
  bed.clock().Advance(25s);
  Json node = NodeOf(bed, "node-0");
  for (const char* type : {"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"})
    EXPECT_EQ(ConditionStatus(node, type), "Unknown") << type;
  EXPECT_EQ(StringAt(*api::FindCondition(node, "Ready"), "reason"), "NodeStatusUnknown");
  EXPECT_EQ(TaintsOf(bed, "node-0"), (Taints{"node.kubernetes.io/unreachable:NoSchedule",
                                             "node.kubernetes.io/unreachable:NoExecute"}));
  for (const Json& taint : node["spec"]["taints"]) EXPECT_FALSE(StringAt(taint, "timeAdded").empty());
  EXPECT_TRUE(EventsAbout(bed, "node-0").contains("NodeNotReady: Node node-0 status is now: NodeNotReady"));
  EXPECT_EQ(ConditionStatus(PodOf(bed, "web"), "Ready"), "False");
  EXPECT_TRUE(EventsAbout(bed, "web").contains("NodeNotReady: Node is not ready"));
  EXPECT_EQ(ConditionStatus(NodeOf(bed, "node-1"), "Ready"), "True");
  EXPECT_EQ(TaintsOf(bed, "node-1"), Taints{});
}

TEST(NodeLifecycle, APodBoundToANodeThatIsDownIsMarkedToo) {
  Testbed bed({.nodes = 3});
  FailNode(bed, "node-0");
  bed.clock().Advance(60s);
  bed.Must(bed.Create("pods", "default", PodOn("late", "node-0")));
  Json ready = {{"type", "Ready"}, {"status", "True"}};
  bed.Must(
      bed.Patch("pods", {"default", "late"}, {{"status", {{"conditions", Json::array({ready})}}}}, "status"));
  bed.clock().Settle();
  EXPECT_EQ(ConditionStatus(PodOf(bed, "late"), "Ready"), "False");
}

TEST(NodeLifecycle, ARecoveredNodeLosesItsTaintsAtTheNextCheck) {
  Testbed bed({.nodes = 3});
  FailNode(bed, "node-0");
  bed.clock().Advance(60s);
  ASSERT_EQ(ConditionStatus(NodeOf(bed, "node-0"), "Ready"), "Unknown");
  RecoverNode(bed, "node-0");
  bed.clock().Advance(5s);
  EXPECT_EQ(ConditionStatus(NodeOf(bed, "node-0"), "Ready"), "True");
  EXPECT_EQ(TaintsOf(bed, "node-0"), Taints{});
  bed.clock().Advance(2min);
  EXPECT_EQ(ConditionStatus(NodeOf(bed, "node-0"), "Ready"), "True");
}

TEST(NodeLifecycle, ANotReadyNodeIsTaintedNotReadyAndUnreachableWhenItFallsSilent) {
  Testbed bed({.nodes = 3});
  Json not_ready = {{"type", "Ready"}, {"status", "False"}};
  bed.Must(
      bed.Patch("nodes", {"", "node-0"}, {{"status", {{"conditions", Json::array({not_ready})}}}}, "status"));
  bed.clock().Advance(6s);
  EXPECT_EQ(TaintsOf(bed, "node-0"),
            (Taints{"node.kubernetes.io/not-ready:NoSchedule", "node.kubernetes.io/not-ready:NoExecute"}));
  FailNode(bed, "node-0");
  bed.clock().Advance(60s);
  EXPECT_EQ(TaintsOf(bed, "node-0"), (Taints{"node.kubernetes.io/unreachable:NoSchedule",
                                             "node.kubernetes.io/unreachable:NoExecute"}));
}

TEST(NodeLifecycle, WhenAllNodesAreUnreachableNoPodIsEvicted) {
  Testbed bed({.nodes = 2});
  bed.Must(bed.Create("pods", "default", PodOn("web", "node-0")));
  bed.clock().Advance(10s);
  FailNode(bed, "node-0");
  bed.clock().Advance(30s);
  FailNode(bed, "node-1");
  bed.clock().Advance(30s);
  ASSERT_TRUE(TaintsOf(bed, "node-0").contains("node.kubernetes.io/unreachable:NoExecute"));
  bed.clock().Advance(30s);
  EXPECT_EQ(ConditionStatus(NodeOf(bed, "node-1"), "Ready"), "Unknown");
  for (const char* node : {"node-0", "node-1"})
    EXPECT_EQ(TaintsOf(bed, node), Taints{"node.kubernetes.io/unreachable:NoSchedule"}) << node;
  bed.clock().Advance(10min);
  EXPECT_FALSE(bed.Get("pods", "default", "web")->header().deleting);
  // One of them recovers, and the other is evicted as usual.
  RecoverNode(bed, "node-1");
  bed.clock().Advance(2min);
  EXPECT_EQ(TaintsOf(bed, "node-1"), Taints{});
  EXPECT_TRUE(TaintsOf(bed, "node-0").contains("node.kubernetes.io/unreachable:NoExecute"));
}

TEST(NodeLifecycle, CordonAndPressureBecomeTaintsImmediately) {
  Testbed bed({.nodes = 1});
  bed.Must(bed.Patch("nodes", {"", "node-0"}, {{"spec", {{"unschedulable", true}}}}));
  Json pressure = {{"type", "MemoryPressure"}, {"status", "True"}};
  bed.Must(
      bed.Patch("nodes", {"", "node-0"}, {{"status", {{"conditions", Json::array({pressure})}}}}, "status"));
  bed.clock().Settle();
  EXPECT_EQ(TaintsOf(bed, "node-0"), (Taints{"node.kubernetes.io/unschedulable:NoSchedule",
                                             "node.kubernetes.io/memory-pressure:NoSchedule"}));
  bed.Must(bed.Patch("nodes", {"", "node-0"}, {{"spec", {{"unschedulable", nullptr}}}}));
  bed.clock().Settle();
  EXPECT_EQ(TaintsOf(bed, "node-0"), Taints{"node.kubernetes.io/memory-pressure:NoSchedule"});
}

TEST(NodeLifecycle, ANodeThatNeverPostsAStatusIsUnknownAfterAMinute) {
  Testbed bed({.kubelet = false, .nodes = 0});
  bed.Must(bed.Create("nodes", "", {{"metadata", {{"name", "mine"}}}}));
  bed.clock().Advance(55s);
  EXPECT_EQ(ConditionStatus(NodeOf(bed, "mine"), "Ready"), "");
  bed.clock().Advance(15s);
  EXPECT_EQ(ConditionStatus(NodeOf(bed, "mine"), "Ready"), "Unknown");
  EXPECT_EQ(StringAt(*api::FindCondition(NodeOf(bed, "mine"), "Ready"), "reason"), "NodeStatusNeverUpdated");
}

TEST(NodeLifecycle, RegistrationAndRemovalAreRecordedAsEvents) {
  Testbed bed({.nodes = 1});
  bed.clock().Advance(6s);
  EXPECT_TRUE(EventsAbout(bed, "node-0")
                  .contains("RegisteredNode: Node node-0 event: Registered Node node-0 in Controller"));
  bed.Must(bed.Delete("nodes", {"", "node-0"}));
  bed.clock().Advance(6s);
  EXPECT_TRUE(EventsAbout(bed, "node-0")
                  .contains("RemovingNode: Node node-0 event: Removing Node node-0 from Controller"));
}

TEST(NodeLifecycle, NothingIsWrittenWhileAllIsWell) {
  Testbed bed({.nodes = 3});
  bed.clock().Advance(20s);
  std::vector<std::int64_t> before, after;
  for (const auto& node : bed.List("nodes")) before.push_back(node->revision());
  bed.clock().Advance(60s);
  for (const auto& node : bed.List("nodes")) after.push_back(node->revision());
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace terrarium::controllers
