// The writes of the scheduler, and slow or failing writes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "tests/kubelet-fake/scheduler/component.h"

namespace terrarium::kubelet_fake {
namespace {

using namespace std::chrono_literals;
using api::Json;
using api::StringAt;
using ::testing::StartsWith;

TEST(Scheduler, APodCountsWhileItsBindIsUnderWay) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  cluster.client().Hold("binding");
  cluster.AddPod("first", "3");
  cluster.Settle();
  cluster.AddPod("second", "3");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("first"), "");
  EXPECT_THAT(std::string(StringAt(cluster.ScheduledCondition("second"), "message")),
              StartsWith("0/1 nodes are available: 1 Insufficient cpu."));
  cluster.client().Release();
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("first"), "node-1");
  EXPECT_EQ(cluster.NodeOf("second"), "");
}

TEST(Scheduler, AfterARefusedBindThePodIsForgottenThereAndTriedLater) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  cluster.client().Refuse("binding", api::ServiceUnavailable("not now"));
  cluster.AddPod("web", "3");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("web"), "");
  EXPECT_EQ(StringAt(cluster.ScheduledCondition("web"), "reason"), "SchedulerError");
  EXPECT_EQ(StringAt(cluster.ScheduledCondition("web"), "message"),
            "running Bind plugin \"DefaultBinder\": not now");
  EXPECT_EQ(cluster.Metric(Pending("backoff")), 1);

  cluster.AddPod("other", "3");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("other"), "node-1") << "the room is free meanwhile";
  cluster.DeletePod("other");
  cluster.client().Refuse("binding", api::ServiceUnavailable("not now"));
  cluster.bed().clock().Advance(999ms);
  EXPECT_EQ(cluster.client().Sent("binding"), 2);
  cluster.bed().clock().Advance(1ms);
  EXPECT_EQ(cluster.client().Sent("binding"), 3) << "refused once more after one second";
  cluster.bed().clock().Advance(1999ms);
  EXPECT_EQ(cluster.NodeOf("web"), "");
  cluster.bed().clock().Advance(1ms);
  EXPECT_EQ(cluster.NodeOf("web"), "node-1") << "after two more";
  EXPECT_EQ(cluster.Metric(Attempts("error")), 2);
}

TEST(Scheduler, ABindByAnotherClientIsRespected) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  cluster.AddNode("node-2");
  cluster.AddPod("there", "500m", {{"spec", {{"nodeName", "node-1"}}}});
  cluster.client().Hold("binding");
  cluster.AddPod("web", "3");
  cluster.Settle();
  // The scheduler has chosen the emptier node, but another client binds the pod first.
  const Json target = {{"metadata", {{"name", "web"}}}, {"target", {{"name", "node-1"}}}};
  cluster.bed().control_plane().handler().Write(
      {.resource = "pods", .object = {"default", "web"}, .subresource = "binding", .body = target}, {},
      [](const api::Client::Written& written) { EXPECT_TRUE(written.ok()); });
  cluster.Settle();
  cluster.client().Release();
  cluster.bed().clock().Advance(30s);
  EXPECT_EQ(cluster.NodeOf("web"), "node-1");
  EXPECT_EQ(StringAt(cluster.ScheduledCondition("web"), "status"), "True");
  EXPECT_EQ(cluster.client().Sent("binding"), 1);
  cluster.AddPod("second", "3");
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("second"), "node-2") << "the node that was first chosen is free again";
}

TEST(Scheduler, APodDeletedDuringItsBindMakesRoomImmediately) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  cluster.client().Hold("binding");
  cluster.AddPod("first", "3", {{"metadata", {{"finalizers", {"example.com/hold"}}}}});
  cluster.AddPod("second", "3");
  cluster.Settle();
  EXPECT_EQ(cluster.client().Sent("binding"), 1);
  cluster.DeletePod("first");
  cluster.Settle();
  EXPECT_EQ(cluster.client().Sent("binding"), 2);
  cluster.client().Release();
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("first"), "");
  EXPECT_EQ(cluster.NodeOf("second"), "node-1");
}

TEST(Scheduler, ABindWaitsForTheReportThatThePodHasNoNode) {
  SchedulerCluster cluster;
  cluster.client().Hold("status");
  cluster.AddPod("web");
  cluster.Settle();
  cluster.AddNode("node-1");
  cluster.Settle();
  EXPECT_EQ(cluster.client().Sent("binding"), 0);
  cluster.client().Release();
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("web"), "node-1");
  EXPECT_EQ(StringAt(cluster.ScheduledCondition("web"), "status"), "True");
}

TEST(Scheduler, TriesAgainAfterFiveMinutesAndWritesNothingThatIsThereAlready) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  cluster.AddPod("web", "5");
  cluster.Settle();
  EXPECT_EQ(cluster.client().Sent("status"), 1);
  cluster.bed().clock().Advance(5min);
  EXPECT_EQ(cluster.Metric(Attempts("unschedulable")), 1);
  cluster.bed().clock().Advance(30s);
  EXPECT_EQ(cluster.Metric(Attempts("unschedulable")), 2);
  EXPECT_EQ(cluster.client().Sent("status"), 1);
}

TEST(Scheduler, WhatIsBeingReportedIsNotReportedAgain) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  cluster.client().Hold("status");
  cluster.AddPod("web", "5");
  cluster.Settle();
  // It is tried again and finds one more node too small, then the same result once more; then there is room.
  cluster.bed().clock().Advance(330s);
  EXPECT_EQ(cluster.client().Sent("status"), 1);
  cluster.AddNode("node-2");
  cluster.bed().clock().Advance(330s);
  EXPECT_EQ(cluster.client().Sent("status"), 2);
  cluster.AddNode("node-3", {{"status", {{"allocatable", {{"cpu", "8"}}}}}});
  cluster.Settle();
  EXPECT_EQ(cluster.client().Sent("binding"), 0);
  cluster.client().Release();
  cluster.Settle();
  EXPECT_EQ(cluster.NodeOf("web"), "node-3");
  EXPECT_EQ(StringAt(cluster.ScheduledCondition("web"), "status"), "True");
}

TEST(Scheduler, WaitingForANodeLeavesTheClusterIdle) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  cluster.AddPod("web", "5");
  const auto outcome = cluster.bed().clock().RunUntilIdle(1h);
  EXPECT_EQ(outcome.why, testbed::RunOutcome::Why::kIdle);
  EXPECT_EQ(outcome.now, api::Time(1767225600s));
}

TEST(Scheduler, StoppedInTheMiddleItDoesNothingMore) {
  SchedulerCluster cluster;
  cluster.AddNode("node-1");
  cluster.client().Hold("binding");
  cluster.client().Refuse("status", api::ServiceUnavailable("not now"));
  cluster.AddPod("first", "3");
  cluster.AddPod("second", "3");
  cluster.Settle();
  cluster.StopScheduler();
  cluster.client().Release();
  cluster.AddPod("third");
  cluster.AddNode("node-2");
  cluster.bed().clock().Advance(10min);
  EXPECT_EQ(cluster.NodeOf("first"), "node-1") << "what was sent has been sent";
  EXPECT_EQ(cluster.NodeOf("third"), "");
}

}  // namespace
}  // namespace terrarium::kubelet_fake
