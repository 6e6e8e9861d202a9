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

TEST(Scheduler, BindsAPodAndSaysSo) {
  SchedulerPlane plane;
  plane.AddNode("node-1");
  plane.AddPod("web", "1");
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("web"), "node-1");
  EXPECT_EQ(StringAt(plane.ScheduledCondition("web"), "status"), "True");
  EXPECT_THAT(plane.EventsOf("web"), ElementsAre("Scheduled: Successfully assigned default/web to node-1"));
  EXPECT_EQ(plane.Metric(Attempts("scheduled")), 1);
  EXPECT_EQ(plane.Metric("scheduler_pod_scheduling_attempts_count"), 1);
}

TEST(Scheduler, WithoutNodesAPodWaitsForTheFirst) {
  SchedulerPlane plane;
  plane.AddPod("web");
  plane.Settle();
  EXPECT_EQ(StringAt(plane.ScheduledCondition("web"), "message"), "no nodes available to schedule pods");
  EXPECT_THAT(plane.EventsOf("web"), ElementsAre("FailedScheduling: no nodes available to schedule pods"));
  plane.AddNode("node-1");
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("web"), "node-1");
}

TEST(Scheduler, TheFirstNodeIsTriedWhateverItIsLike) {
  SchedulerPlane plane;
  plane.AddPod("web", "", {{"spec", {{"nodeSelector", {{"disk", "ssd"}}}}}});
  plane.Settle();
  plane.AddNode("node-1");
  plane.Settle();
  EXPECT_EQ(StringAt(plane.ScheduledCondition("web"), "message"),
            "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. preemption: 0/1 nodes are "
            "available: 1 Preemption is not helpful for scheduling.");
}

TEST(Scheduler, SaysWhyNoNodeIsGoodEnough) {
  SchedulerPlane plane;
  plane.AddNode("node-1");
  plane.AddNode("node-2", {{"spec", {{"unschedulable", true}}}});
  plane.AddPod("first", "3");
  plane.Settle();
  plane.AddPod("second", "3");
  plane.Settle();
  const std::string message =
      "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. preemption: 0/2 nodes are available: "
      "1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.";
  const Json condition = plane.ScheduledCondition("second");
  EXPECT_EQ(StringAt(condition, "status"), "False");
  EXPECT_EQ(StringAt(condition, "reason"), "Unschedulable");
  EXPECT_EQ(StringAt(condition, "message"), message);
  EXPECT_EQ(StringAt(condition, "lastTransitionTime"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(api::IntAt(condition, 0, "observedGeneration"), 1);
  EXPECT_TRUE(condition.contains("lastProbeTime"));
  EXPECT_THAT(plane.EventsOf("second"), ElementsAre("FailedScheduling: " + message));
  EXPECT_EQ(plane.Metric(Pending("unschedulable")), 1);
  EXPECT_EQ(plane.Metric(Attempts("unschedulable")), 1);
}

TEST(Scheduler, APodThatGoesMakesRoom) {
  SchedulerPlane plane;
  plane.AddNode("node-1");
  plane.AddPod("first", "3");
  plane.Settle();
  plane.AddPod("second", "3");
  plane.Settle();
  ASSERT_EQ(plane.NodeOf("second"), "");
  plane.DeletePod("first");
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("second"), "node-1") << "at once: an idle scheduler waits for no backoff";
  EXPECT_EQ(StringAt(plane.ScheduledCondition("second"), "status"), "True");
}

TEST(Scheduler, APodThatHasEndedMakesRoom) {
  SchedulerPlane plane;
  plane.AddNode("node-1");
  plane.AddPod("first", "3");
  plane.Settle();
  plane.AddPod("second", "3");
  plane.Settle();
  plane.PatchPod("first", {{"status", {{"phase", "Succeeded"}}}}, "status");
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("second"), "node-1");
}

TEST(Scheduler, OfManyThatWaitAsManyAsFitAreTriedAgain) {
  SchedulerPlane plane;
  plane.AddNode("node-1");
  plane.AddPod("first", "3");
  plane.Settle();
  for (int i = 0; i < 50; ++i) plane.AddPod("waiting-" + std::to_string(i), "1500m");
  plane.Settle();
  EXPECT_EQ(plane.Metric(Attempts("unschedulable")), 50);
  plane.DeletePod("first");
  plane.Settle();
  int bound = 0;
  for (int i = 0; i < 50; ++i) bound += plane.NodeOf("waiting-" + std::to_string(i)).empty() ? 0 : 1;
  EXPECT_EQ(bound, 2);
  EXPECT_EQ(plane.Metric(Attempts("unschedulable")), 51) << "one more found the node full, and spoke for all its like";
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
      {"uncordoned", {{"spec", {{"unschedulable", true}}}}, Json::object(), {{"spec", {{"unschedulable", nullptr}}}}},
      {"untainted", {{"spec", {{"taints", taints}}}}, Json::object(), {{"spec", {{"taints", nullptr}}}}},
      {"labelled", Json::object(), {{"nodeSelector", {{"disk", "ssd"}}}},
       {{"metadata", {{"labels", {{"disk", "ssd"}}}}}}},
  };
  for (const Case& c : cases) {
    SchedulerPlane plane;
    plane.AddNode("node-1", c.node);
    plane.AddPod("web", "", {{"spec", c.pod_spec}});
    plane.Settle();
    EXPECT_EQ(plane.NodeOf("web"), "") << c.name;
    plane.PatchNode("node-1", c.patch);
    plane.Settle();
    EXPECT_EQ(plane.NodeOf("web"), "node-1") << c.name;
  }
}

TEST(Scheduler, MoreCapacityIsTaken) {
  SchedulerPlane plane;
  plane.AddNode("node-1");
  plane.AddPod("web", "5");
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("web"), "");
  const Json more = {{"status", {{"allocatable", {{"cpu", "6"}}}}}};
  plane.bed().Must(plane.bed().Patch("nodes", {"", "node-1"}, more, "status"));
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("web"), "node-1");
}

TEST(Scheduler, AGatedPodWaitsForItsGates) {
  SchedulerPlane plane;
  plane.AddNode("node-1");
  plane.AddPod("web", "", {{"spec", {{"schedulingGates", Json::array({{{"name", "example.com/later"}}})}}}});
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("web"), "");
  EXPECT_EQ(StringAt(plane.ScheduledCondition("web"), "reason"), "SchedulingGated");
  EXPECT_THAT(plane.EventsOf("web"), IsEmpty());
  EXPECT_EQ(plane.Metric(Pending("gated")), 1);
  plane.PatchPod("web", {{"spec", {{"schedulingGates", nullptr}}}});
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("web"), "node-1");
  EXPECT_EQ(plane.Metric(Pending("gated")), 0);
}

TEST(Scheduler, PodsOfOtherSchedulersAreLeftAloneButCountWhereTheyAre) {
  SchedulerPlane plane;
  plane.AddNode("node-1");
  plane.AddPod("other", "3", {{"spec", {{"schedulerName", "mine"}}}});
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("other"), "");
  EXPECT_EQ(plane.ScheduledCondition("other"), nullptr);
  plane.AddPod("placed", "3", {{"spec", {{"schedulerName", "mine"}, {"nodeName", "node-1"}}}});
  plane.AddPod("web", "3");
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("web"), "");
}

TEST(Scheduler, TheMoreImportantPodGoesFirst) {
  SchedulerPlane plane;
  plane.AddPod("early", "3");
  plane.AddPod("late", "3", Critical());
  plane.Settle();
  plane.AddNode("node-1");
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("late"), "node-1");
  EXPECT_EQ(plane.NodeOf("early"), "");
}

TEST(Scheduler, AffinityWaitsForItsMate) {
  SchedulerPlane plane;
  plane.AddNode("node-1");
  plane.AddNode("node-2");
  plane.AddPod("web", "", Labelled("web", scheduling::PodTermSpec("podAffinity", "db")));
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("web"), "");
  plane.AddPod("db", "", Labelled("db"));
  plane.Settle();
  EXPECT_NE(plane.NodeOf("db"), "");
  EXPECT_EQ(plane.NodeOf("web"), plane.NodeOf("db"));
}

TEST(Scheduler, AntiAffinityWaitsUntilTheOtherIsGoneOrRelabelled) {
  for (const bool relabelled : {false, true}) {
    SchedulerPlane plane;
    plane.AddNode("node-1");
    plane.AddPod("first", "", Labelled("web"));
    plane.Settle();
    plane.AddPod("second", "", Labelled("web", scheduling::PodTermSpec("podAntiAffinity", "web")));
    plane.Settle();
    EXPECT_EQ(plane.NodeOf("second"), "");
    if (relabelled) {
      plane.PatchPod("first", {{"metadata", {{"labels", {{"app", "other"}}}}}});
    } else {
      plane.DeletePod("first");
    }
    plane.Settle();
    EXPECT_EQ(plane.NodeOf("second"), "node-1");
  }
}

TEST(Scheduler, AChangeOfThePodItselfIsTried) {
  SchedulerPlane plane;
  const Json taints = Json::array({{{"key", "a"}, {"effect", "NoSchedule"}}});
  plane.AddNode("node-1", {{"spec", {{"taints", taints}}}});
  plane.AddPod("web");
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("web"), "");
  Json tolerations = api::ListAt(*plane.PodDocument("web"), "spec", "tolerations");
  tolerations.push_back({{"key", "a"}, {"operator", "Exists"}});
  plane.PatchPod("web", {{"spec", {{"tolerations", tolerations}}}});
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("web"), "node-1");
}

TEST(Scheduler, APodThatIsDeletedIsNoLongerWaitedWith) {
  SchedulerPlane plane;
  plane.AddPod("web");
  plane.Settle();
  plane.DeletePod("web");
  plane.Settle();
  EXPECT_EQ(plane.Metric(Pending("unschedulable")), 0);
  plane.AddNode("node-1");
  plane.Settle();
  EXPECT_EQ(plane.client().Sent("binding"), 0);
}

TEST(Scheduler, TheSameSeedChoosesTheSameNodes) {
  const auto placement = [](std::uint64_t seed) {
    SchedulerPlane plane(seed);
    for (int i = 0; i < 5; ++i) plane.AddNode("node-" + std::to_string(i));
    std::string out;
    for (int i = 0; i < 10; ++i) plane.AddPod("web-" + std::to_string(i));
    plane.Settle();
    for (int i = 0; i < 10; ++i) out += plane.NodeOf("web-" + std::to_string(i)) + " ";
    return out;
  };
  EXPECT_EQ(placement(1), placement(1));
  EXPECT_NE(placement(1), placement(2));
}

}  // namespace
}  // namespace terrarium::kubelet_fake
