// Preemption as clients of the apiserver see it, and its requests when they are slow or fail.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "tests/kubelet-fake/scheduler/component.h"

namespace terrarium::kubelet_fake {
namespace {

using namespace std::chrono_literals;
using api::Json;
using api::StringAt;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

Json Critical() { return {{"spec", {{"priorityClassName", "system-cluster-critical"}}}}; }
Json MostCritical() { return {{"spec", {{"priorityClassName", "system-node-critical"}}}}; }

std::string NominatedNode(SchedulerCluster& cluster, const std::string& pod) {
  const auto document = cluster.PodDocument(pod);
  return std::string(StringAt(*document, "status", "nominatedNodeName"));
}

bool IsTerminating(SchedulerCluster& cluster, const std::string& pod) {
  return cluster.bed().Get("pods", "default", pod)->header().deleting;
}

std::string MessageOf(SchedulerCluster& cluster, const std::string& pod) {
  return std::string(StringAt(cluster.ScheduledCondition(pod), "message"));
}

// A node that is full with the pods low-1 and low-2, of two cpus each.
void Fill(SchedulerCluster& cluster) {
  cluster.AddNode("node-1");
  cluster.AddPod("low-1", "2");
  cluster.AddPod("low-2", "2");
  cluster.Settle();
}

TEST(SchedulerPreemption, AVictimIsDeletedGracefullyAndItsRoomTaken) {
  SchedulerCluster cluster;
  Fill(cluster);
  cluster.AddPod("high", "4", Critical());
  cluster.Settle();
  EXPECT_EQ(NominatedNode(cluster, "high"), "node-1");
  EXPECT_EQ(cluster.NodeOf("high"), "");
  EXPECT_EQ(MessageOf(cluster, "high"), "0/1 nodes are available: 1 Insufficient cpu.");
  EXPECT_THAT(cluster.EventsOf("high"),
              ElementsAre("FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu."));
  const std::string uid = cluster.bed().Get("pods", "default", "high")->header().uid;
  for (const char* victim : {"low-1", "low-2"}) {
    EXPECT_TRUE(IsTerminating(cluster, victim));
    EXPECT_THAT(cluster.EventsOf(victim), Contains("Preempted: Preempted by pod " + uid + " on node node-1"));
    const auto document = cluster.PodDocument(victim);
    EXPECT_EQ(api::IntAt(*document, 0, "metadata", "deletionGracePeriodSeconds"), 30);
    const Json* condition = api::FindCondition(*document, "DisruptionTarget");
    ASSERT_NE(condition, nullptr);
    EXPECT_EQ(StringAt(*condition, "status"), "True");
    EXPECT_EQ(StringAt(*condition, "reason"), "PreemptionByScheduler");
    EXPECT_EQ(StringAt(*condition, "message"),
              "default-scheduler: preempting to accommodate a higher priority pod");
    EXPECT_EQ(StringAt(*condition, "lastTransitionTime"), "2026-01-01T00:00:00Z");
  }
  EXPECT_EQ(cluster.Metric("scheduler_preemption_attempts_total"), 1);
  EXPECT_EQ(cluster.Metric("scheduler_preemption_victims_sum"), 2);
  EXPECT_EQ(cluster.Metric("scheduler_preemption_goroutines_execution_total{result=\"success\"}"), 1);

  cluster.DeletePod("low-1");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("high"), "") << "one victim is still there";
  cluster.DeletePod("low-2");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("high"), "node-1");
  EXPECT_EQ(NominatedNode(cluster, "high"), "") << "binding clears it";
}

TEST(SchedulerPreemption, TheDecisionExplainsItself) {
  SchedulerCluster cluster;
  Fill(cluster);
  cluster.AddPod("high", "2", Critical());
  cluster.Settle();
  const auto records = cluster.why().Find("pods", {"default", "high"});
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].controller, "default-scheduler");
  EXPECT_EQ(records[0].action, "delete");
  EXPECT_EQ(records[0].object.name, "low-2") << "equally old, so the later name";
  EXPECT_EQ((*records[0].saw)["node"], "node-1");
  EXPECT_EQ((*records[0].saw)["victims"], 1);
  EXPECT_EQ((*records[0].saw)["candidateNodes"], 1);
}

TEST(SchedulerPreemption, WhileAVictimTerminatesNoOtherPodIsDeleted) {
  SchedulerCluster cluster;
  Fill(cluster);
  cluster.AddPod("high", "2", Critical());
  cluster.Settle();
  cluster.AddNode("node-2");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("high"), "node-2") << "the first node with room is taken, nominated or not";
  cluster.AddPod("filler", "2", Critical());
  cluster.Settle();
  cluster.AddPod("high-2", "2", Critical());
  cluster.Settle();
  EXPECT_EQ(NominatedNode(cluster, "high-2"), "node-1");
  cluster.bed().clock().Advance(6min);
  EXPECT_THAT(MessageOf(cluster, "high-2"),
              "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: not "
              "eligible due to a terminating pod on the nominated node.");
  EXPECT_EQ(NominatedNode(cluster, "high-2"), "node-1");
  EXPECT_FALSE(IsTerminating(cluster, "low-1"));
}

TEST(SchedulerPreemption, ThePodsOfOneClassPreemptOneAfterTheOther) {
  SchedulerCluster cluster;
  for (const char* node : {"node-1", "node-2", "node-3"}) {
    cluster.AddNode(node);
    cluster.AddPod(std::string("low-") + node, "4");
    cluster.Settle();
  }
  for (const char* pod : {"a", "b", "c", "d"}) cluster.AddPod(pod, "4", Critical());
  cluster.Settle();
  std::map<std::string, std::string> nominated;  // pod by node
  for (const char* pod : {"a", "b", "c", "d"}) nominated[NominatedNode(cluster, pod)] = pod;
  EXPECT_EQ(nominated.size(), 4u) << "each on a node of its own, and one on none";
  ASSERT_TRUE(nominated.contains(""));
  EXPECT_EQ(MessageOf(cluster, nominated[""]),
            "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: 0/3 "
            "nodes are available: 3 Insufficient cpu.");
  // Whichever victim goes first, the pod that is nominated there comes.
  const std::string last = nominated["node-3"];
  cluster.DeletePod(cluster.NodeOf("low-node-1") == "node-3"   ? "low-node-1"
                    : cluster.NodeOf("low-node-2") == "node-3" ? "low-node-2"
                                                               : "low-node-3");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf(last), "node-3");
  EXPECT_EQ(cluster.Metric(Pending("unschedulable")), 3);
}

TEST(SchedulerPreemption, TheRoomIsKeptFromPodsThatAreNotMoreImportant) {
  SchedulerCluster cluster;
  Fill(cluster);
  cluster.AddPod("high", "4", Critical());
  cluster.Settle();
  cluster.DeletePod("low-1");
  cluster.AddPod("late", "1");
  cluster.AddPod("late-equal", "1", Critical());
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("late"), "");
  EXPECT_EQ(cluster.NodeOf("late-equal"), "");
  cluster.DeletePod("low-2");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("high"), "node-1");
}

TEST(SchedulerPreemption, AMoreImportantPodTakesTheRoomAndTheNomination) {
  SchedulerCluster cluster;
  Fill(cluster);
  cluster.AddPod("high", "4", Critical());
  cluster.Settle();
  ASSERT_EQ(NominatedNode(cluster, "high"), "node-1");
  cluster.DeletePod("low-1");
  cluster.Settle();
  // It needs the room of the pod that still terminates, whose deletion need not be sent again.
  cluster.AddPod("higher", "4", MostCritical());
  cluster.Settle();
  EXPECT_EQ(NominatedNode(cluster, "higher"), "node-1");
  cluster.DeletePod("low-2");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("higher"), "node-1");
  EXPECT_EQ(cluster.NodeOf("high"), "");
}

TEST(SchedulerPreemption, ALowerNominationIsWithdrawn) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  cluster.AddPod("low-1", "1");
  cluster.AddPod("low-2", "3");
  cluster.Settle();
  cluster.AddPod("high", "1", Critical());
  cluster.Settle();
  ASSERT_EQ(NominatedNode(cluster, "high"), "node-1");
  cluster.AddPod("higher", "4", MostCritical());
  cluster.Settle();
  EXPECT_EQ(NominatedNode(cluster, "higher"), "node-1");
  EXPECT_EQ(NominatedNode(cluster, "high"), "");
}

TEST(SchedulerPreemption, AMessageStatesWhyPreemptionDoesNotHelp) {
  SchedulerCluster cluster;
  Fill(cluster);
  cluster.AddNode("node-2", {{"spec", {{"unschedulable", true}}}});
  cluster.AddPod("equal", "2");
  cluster.AddPod("too-big", "5", Critical());
  cluster.bed().Must(cluster.bed().Create(
      "priorityclasses", "",
      {{"metadata", {{"name", "peaceful"}}}, {"value", 10}, {"preemptionPolicy", "Never"}}));
  cluster.AddPod("peaceful", "2", {{"spec", {{"priorityClassName", "peaceful"}}}});
  cluster.Settle();
  EXPECT_EQ(MessageOf(cluster, "equal"),
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. no new claims to "
            "deallocate, preemption: 0/2 nodes are available: 1 No preemption victims found for incoming "
            "pod, 1 Preemption is not helpful for scheduling.");
  EXPECT_EQ(MessageOf(cluster, "too-big"),
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. no new claims to "
            "deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.");
  EXPECT_EQ(MessageOf(cluster, "peaceful"),
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. no new claims to "
            "deallocate, preemption: not eligible due to preemptionPolicy=Never.");
  EXPECT_EQ(cluster.Metric("scheduler_preemption_attempts_total"), 3);
  EXPECT_FALSE(IsTerminating(cluster, "low-1"));
}

TEST(SchedulerPreemption, RoomThatIsNotEnoughMayBeEnoughWithPreemption) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  cluster.AddPod("low", "1");
  cluster.AddPod("equal", "2", Critical());
  cluster.Settle();
  cluster.AddPod("high", "4", Critical());
  cluster.Settle();
  EXPECT_EQ(NominatedNode(cluster, "high"), "");
  cluster.DeletePod("equal");
  cluster.Settle();
  EXPECT_EQ(NominatedNode(cluster, "high"), "node-1");
  EXPECT_TRUE(IsTerminating(cluster, "low"));
}

TEST(SchedulerPreemption, WhenItsRoomIsTakenThePodPreemptsAgain) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  cluster.AddNode("node-2");
  cluster.AddPod("low-1", "4");
  cluster.AddPod("low-2", "4");
  cluster.Settle();
  cluster.AddPod("high", "4", Critical());
  cluster.Settle();
  const std::string first = NominatedNode(cluster, "high");
  const std::string victim = cluster.NodeOf("low-1") == first ? "low-1" : "low-2";
  const std::string other = victim == "low-1" ? "low-2" : "low-1";
  // Another client puts a pod there.
  cluster.AddPod("placed", "4",
                 {{"spec", {{"nodeName", first}, {"priorityClassName", "system-node-critical"}}}});
  cluster.DeletePod(victim);
  cluster.Settle();
  EXPECT_EQ(NominatedNode(cluster, "high"), cluster.NodeOf(other));
  EXPECT_TRUE(IsTerminating(cluster, other));
}

TEST(SchedulerPreemption, WhenItsNodeIsDeletedThePodPreemptsAgain) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  cluster.AddNode("node-2");
  cluster.AddPod("low-1", "4");
  cluster.AddPod("low-2", "4");
  cluster.Settle();
  cluster.AddPod("high", "4", Critical());
  cluster.Settle();
  const std::string first = NominatedNode(cluster, "high");
  cluster.bed().Must(cluster.bed().Delete("nodes", {"", first}));
  cluster.Settle();
  EXPECT_EQ(NominatedNode(cluster, "high"), first == "node-1" ? "node-2" : "node-1");
}

TEST(SchedulerPreemption, ANominationEndsWithThePod) {
  SchedulerCluster cluster;
  Fill(cluster);
  cluster.AddPod("high", "4", Critical());
  cluster.Settle();
  cluster.DeletePod("low-1");
  cluster.AddPod("late", "2");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("late"), "");
  cluster.DeletePod("high");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("late"), "node-1");
}

TEST(SchedulerPreemption, ANominationByAnotherClientCountsUntilItIsWithdrawn) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1", {{"spec", {{"unschedulable", true}}}});
  cluster.AddPod("promised", "4");
  cluster.Settle();
  cluster.PatchPod("promised", {{"status", {{"nominatedNodeName", "node-1"}}}}, "status");
  cluster.Settle();
  Json tolerations = Json::array();
  tolerations.push_back({{"key", "node.kubernetes.io/unschedulable"}, {"operator", "Exists"}});
  cluster.AddPod("tolerant", "1", {{"spec", {{"tolerations", tolerations}}}});
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("tolerant"), "");
  cluster.PatchPod("promised", {{"status", {{"nominatedNodeName", nullptr}}}}, "status");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("tolerant"), "node-1");
}

TEST(SchedulerPreemption, ThePodIsNotTriedWhileTheDeletionsAreUnderWay) {
  SchedulerCluster cluster;
  Fill(cluster);
  cluster.client().Hold("status");
  cluster.AddPod("high", "4", Critical());
  cluster.Settle();
  EXPECT_FALSE(IsTerminating(cluster, "low-1")) << "the conditions come first";
  cluster.DeletePod("low-1");
  cluster.DeletePod("low-2");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("high"), "");
  EXPECT_EQ(cluster.Metric(Attempts("unschedulable")), 1);
  cluster.client().Release();
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("high"), "node-1") << "victims that were gone meanwhile are no failure";
  EXPECT_EQ(cluster.Metric("scheduler_preemption_goroutines_execution_total{result=\"error\"}"), 0);
}

TEST(SchedulerPreemption, TheLastVictimIsDeletedAfterTheOthers) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  for (const char* pod : {"low-1", "low-2", "low-3", "low-4"}) cluster.AddPod(pod, "1");
  cluster.Settle();
  const int before = cluster.client().Sent("status");
  cluster.client().Hold("status");
  cluster.AddPod("high", "4", Critical());
  cluster.Settle();
  EXPECT_EQ(cluster.client().Sent("status") - before, 1 + 3) << "of the pod itself and of three victims";
  cluster.client().Release();
  cluster.Settle();
  EXPECT_EQ(cluster.client().Sent("status") - before, 1 + 4);
}

TEST(SchedulerPreemption, AFailedPreemptionIsRepeatedLater) {
  SchedulerCluster cluster;
  Fill(cluster);
  cluster.client().Hold("binding");
  cluster.client().Refuse("status", api::ServiceUnavailable("not now"));
  cluster.client().Refuse("status", api::ServiceUnavailable("not now"));
  cluster.AddPod("high", "4", Critical());
  cluster.Settle();
  EXPECT_EQ(cluster.Metric("scheduler_preemption_goroutines_execution_total{result=\"error\"}"), 1);
  EXPECT_FALSE(IsTerminating(cluster, "low-2"));
  cluster.bed().clock().Advance(1s);
  EXPECT_TRUE(IsTerminating(cluster, "low-1"));
  EXPECT_TRUE(IsTerminating(cluster, "low-2"));
  EXPECT_EQ(NominatedNode(cluster, "high"), "node-1");
}

TEST(SchedulerPreemption, WaitingForAVictimLeavesTheClusterIdle) {
  SchedulerCluster cluster;
  Fill(cluster);
  cluster.AddPod("high", "4", Critical());
  EXPECT_EQ(cluster.bed().clock().RunUntilIdle(1h).why, testbed::RunOutcome::Why::kIdle);
}

TEST(SchedulerPreemption, StoppedInTheMiddleItDoesNothingMore) {
  SchedulerCluster cluster;
  Fill(cluster);
  cluster.client().Hold("status");
  cluster.AddPod("high", "4", Critical());
  cluster.Settle();
  cluster.StopScheduler();
  cluster.client().Release();
  cluster.Settle();
  EXPECT_FALSE(IsTerminating(cluster, "low-1"));
  EXPECT_FALSE(IsTerminating(cluster, "low-2"));
}

}  // namespace
}  // namespace terrarium::kubelet_fake
