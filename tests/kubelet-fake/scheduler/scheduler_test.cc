#include "kubelet-fake/scheduler/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_access.h"
#include "tests/kubelet-fake/scheduler/component.h"
#include "tests/kubelet-fake/scheduler/objects.h"

namespace terrarium::kubelet_fake {
namespace {

using api::Json;
using api::StringAt;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Json Labelled(const char* app, const Json& spec = Json::object()) {
  return {{"metadata", {{"labels", {{"app", app}}}}}, {"spec", spec}};
}

Json Critical() { return {{"spec", {{"priorityClassName", "system-cluster-critical"}}}}; }

TEST(Scheduler, BindsAPodAndRecordsAnEvent) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  cluster.AddPod("web", "1");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("web"), "node-1");
  EXPECT_EQ(StringAt(cluster.ScheduledCondition("web"), "status"), "True");
  EXPECT_THAT(cluster.EventsOf("web"), ElementsAre("Scheduled: Successfully assigned default/web to node-1"));
  EXPECT_EQ(cluster.Metric(Attempts("scheduled")), 1);
  EXPECT_EQ(cluster.Metric("scheduler_pod_scheduling_attempts_count"), 1);
}

TEST(Scheduler, WithoutNodesAPodWaitsForTheFirst) {
  SchedulerCluster cluster;
  cluster.AddPod("web");
  cluster.Settle();
  EXPECT_EQ(StringAt(cluster.ScheduledCondition("web"), "message"), "no nodes available to schedule pods");
  EXPECT_THAT(cluster.EventsOf("web"), ElementsAre("FailedScheduling: no nodes available to schedule pods"));
  cluster.AddNode("node-1");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("web"), "node-1");
}

TEST(Scheduler, TheFirstNodeIsTriedWhateverItIsLike) {
  SchedulerCluster cluster;
  cluster.AddPod("web", "", {{"spec", {{"nodeSelector", {{"disk", "ssd"}}}}}});
  cluster.Settle();
  cluster.AddNode("node-1");
  cluster.Settle();
  EXPECT_EQ(StringAt(cluster.ScheduledCondition("web"), "message"),
            "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. no new claims "
            "to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for "
            "scheduling.");
}

TEST(Scheduler, ReportsWhyNoNodeFits) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  cluster.AddNode("node-2", {{"spec", {{"unschedulable", true}}}});
  cluster.AddPod("first", "3");
  cluster.Settle();
  cluster.AddPod("second", "3");
  cluster.Settle();
  const std::string message =
      "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. no new claims to "
      "deallocate, preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 "
      "Preemption is not helpful for scheduling.";
  const Json condition = cluster.ScheduledCondition("second");
  EXPECT_EQ(StringAt(condition, "status"), "False");
  EXPECT_EQ(StringAt(condition, "reason"), "Unschedulable");
  EXPECT_EQ(StringAt(condition, "message"), message);
  EXPECT_EQ(StringAt(condition, "lastTransitionTime"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(api::IntAt(condition, 0, "observedGeneration"), 1);
  EXPECT_TRUE(condition.contains("lastProbeTime"));
  EXPECT_THAT(cluster.EventsOf("second"), ElementsAre("FailedScheduling: " + message));
  EXPECT_EQ(cluster.Metric(Pending("unschedulable")), 1);
  EXPECT_EQ(cluster.Metric(Attempts("unschedulable")), 1);
}

TEST(Scheduler, APodThatGoesMakesRoom) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  cluster.AddPod("first", "3");
  cluster.Settle();
  cluster.AddPod("second", "3");
  cluster.Settle();
  ASSERT_EQ(cluster.NodeOf("second"), "");
  cluster.DeletePod("first");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("second"), "node-1") << "immediately: an idle scheduler waits for no backoff";
  EXPECT_EQ(StringAt(cluster.ScheduledCondition("second"), "status"), "True");
}

TEST(Scheduler, APodThatHasEndedMakesRoom) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  cluster.AddPod("first", "3");
  cluster.Settle();
  cluster.AddPod("second", "3");
  cluster.Settle();
  cluster.PatchPod("first", {{"status", {{"phase", "Succeeded"}}}}, "status");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("second"), "node-1");
}

TEST(Scheduler, OfManyThatWaitAsManyAsFitAreTriedAgain) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  cluster.AddPod("first", "3");
  cluster.Settle();
  for (int i = 0; i < 50; ++i) cluster.AddPod("waiting-" + std::to_string(i), "1500m");
  cluster.Settle();
  EXPECT_EQ(cluster.Metric(Attempts("unschedulable")), 50);
  cluster.DeletePod("first");
  cluster.Settle();
  int bound = 0;
  for (int i = 0; i < 50; ++i) bound += cluster.NodeOf("waiting-" + std::to_string(i)).empty() ? 0 : 1;
  EXPECT_EQ(bound, 2);
  EXPECT_EQ(cluster.Metric(Attempts("unschedulable")), 51)
      << "one more found the node full, and spoke for all its like";
}

TEST(Scheduler, NodesThatBecomeGoodEnoughAreTaken) {
  struct Case {
    const char* name;
    Json node;
    Json pod_spec;
    Json patch;
  };
  const Json taints = Json::array({{{"key", "a"}, {"effect", "NoSchedule"}}});
  const Case cases[] = {
      {"uncordoned",
       {{"spec", {{"unschedulable", true}}}},
       Json::object(),
       {{"spec", {{"unschedulable", nullptr}}}}},
      {"untainted", {{"spec", {{"taints", taints}}}}, Json::object(), {{"spec", {{"taints", nullptr}}}}},
      {"labelled",
       Json::object(),
       {{"nodeSelector", {{"disk", "ssd"}}}},
       {{"metadata", {{"labels", {{"disk", "ssd"}}}}}}},
  };
  for (const Case& c : cases) {
    SchedulerCluster cluster;
    cluster.AddNode("node-1", c.node);
    cluster.AddPod("web", "", {{"spec", c.pod_spec}});
    cluster.Settle();
    EXPECT_EQ(cluster.NodeOf("web"), "") << c.name;
    cluster.PatchNode("node-1", c.patch);
    cluster.Settle();
    EXPECT_EQ(cluster.NodeOf("web"), "node-1") << c.name;
  }
}

TEST(Scheduler, MoreCapacityIsTaken) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  cluster.AddPod("web", "5");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("web"), "");
  const Json more = {{"status", {{"allocatable", {{"cpu", "6"}}}}}};
  cluster.bed().Must(cluster.bed().Patch("nodes", {"", "node-1"}, more, "status"));
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("web"), "node-1");
}

TEST(Scheduler, AGatedPodWaitsForItsGates) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  cluster.AddPod("web", "",
                 {{"spec", {{"schedulingGates", Json::array({{{"name", "example.com/later"}}})}}}});
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("web"), "");
  EXPECT_EQ(StringAt(cluster.ScheduledCondition("web"), "reason"), "SchedulingGated");
  EXPECT_THAT(cluster.EventsOf("web"), IsEmpty());
  EXPECT_EQ(cluster.Metric(Pending("gated")), 1);
  cluster.PatchPod("web", {{"spec", {{"schedulingGates", nullptr}}}});
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("web"), "node-1");
  EXPECT_EQ(cluster.Metric(Pending("gated")), 0);
}

TEST(Scheduler, PodsOfOtherSchedulersAreLeftAloneButCountWhereTheyAre) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  cluster.AddPod("other", "3", {{"spec", {{"schedulerName", "mine"}}}});
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("other"), "");
  EXPECT_EQ(cluster.ScheduledCondition("other"), nullptr);
  cluster.AddPod("placed", "3", {{"spec", {{"schedulerName", "mine"}, {"nodeName", "node-1"}}}});
  cluster.AddPod("web", "3");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("web"), "");
}

TEST(Scheduler, TheMoreImportantPodGoesFirst) {
  SchedulerCluster cluster;
  cluster.AddPod("early", "3");
  cluster.AddPod("late", "3", Critical());
  cluster.Settle();
  cluster.AddNode("node-1");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("late"), "node-1");
  EXPECT_EQ(cluster.NodeOf("early"), "");
}

TEST(Scheduler, AffinityWaitsForAMatchingPod) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  cluster.AddNode("node-2");
  cluster.AddPod("web", "", Labelled("web", scheduling::PodTermSpec("podAffinity", "db")));
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("web"), "");
  cluster.AddPod("db", "", Labelled("db"));
  cluster.Settle();
  EXPECT_NE(cluster.NodeOf("db"), "");
  EXPECT_EQ(cluster.NodeOf("web"), cluster.NodeOf("db"));
}

TEST(Scheduler, AntiAffinityWaitsUntilTheOtherIsGoneOrRelabelled) {
  for (const bool relabelled : {false, true}) {
    SchedulerCluster cluster;
    cluster.AddNode("node-1");
    cluster.AddPod("first", "", Labelled("web"));
    cluster.Settle();
    cluster.AddPod("second", "", Labelled("web", scheduling::PodTermSpec("podAntiAffinity", "web")));
    cluster.Settle();
    EXPECT_EQ(cluster.NodeOf("second"), "");
    if (relabelled) {
      cluster.PatchPod("first", {{"metadata", {{"labels", {{"app", "other"}}}}}});
    } else {
      cluster.DeletePod("first");
    }
    cluster.Settle();
    EXPECT_EQ(cluster.NodeOf("second"), "node-1");
  }
}

TEST(Scheduler, AChangeOfThePodItselfIsTried) {
  SchedulerCluster cluster;
  const Json taints = Json::array({{{"key", "a"}, {"effect", "NoSchedule"}}});
  cluster.AddNode("node-1", {{"spec", {{"taints", taints}}}});
  cluster.AddPod("web");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("web"), "");
  Json tolerations = api::ListAt(*cluster.PodDocument("web"), "spec", "tolerations");
  tolerations.push_back({{"key", "a"}, {"operator", "Exists"}});
  cluster.PatchPod("web", {{"spec", {{"tolerations", tolerations}}}});
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("web"), "node-1");
}

TEST(Scheduler, APodThatIsDeletedIsNoLongerWaitedWith) {
  SchedulerCluster cluster;
  cluster.AddPod("web");
  cluster.Settle();
  cluster.DeletePod("web");
  cluster.Settle();
  EXPECT_EQ(cluster.Metric(Pending("unschedulable")), 0);
  cluster.AddNode("node-1");
  cluster.Settle();
  EXPECT_EQ(cluster.client().Sent("binding"), 0);
}

TEST(Scheduler, TheSameSeedChoosesTheSameNodes) {
  const auto placement = [](std::uint64_t seed) {
    SchedulerCluster cluster(seed);
    for (int i = 0; i < 5; ++i) cluster.AddNode("node-" + std::to_string(i));
    std::string out;
    for (int i = 0; i < 10; ++i) cluster.AddPod("web-" + std::to_string(i));
    cluster.Settle();
    for (int i = 0; i < 10; ++i) out += cluster.NodeOf("web-" + std::to_string(i)) + " ";
    return out;
  };
  EXPECT_EQ(placement(1), placement(1));
  EXPECT_NE(placement(1), placement(2));
}

}  // namespace
}  // namespace terrarium::kubelet_fake
