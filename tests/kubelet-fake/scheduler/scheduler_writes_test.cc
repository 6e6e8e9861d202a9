// What the scheduler writes and what it does when writing is slow or fails.

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
  SchedulerPlane plane;
  plane.AddNode("node-1");
  plane.client().Hold("binding");
  plane.AddPod("first", "3");
  plane.Settle();
  plane.AddPod("second", "3");
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("first"), "");
  EXPECT_THAT(std::string(StringAt(plane.ScheduledCondition("second"), "message")),
              StartsWith("0/1 nodes are available: 1 Insufficient cpu."));
  plane.client().Release();
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("first"), "node-1");
  EXPECT_EQ(plane.NodeOf("second"), "");
}

TEST(Scheduler, AfterARefusedBindThePodIsForgottenThereAndTriedLater) {
  SchedulerPlane plane;
  plane.AddNode("node-1");
  plane.client().Refuse("binding", api::ServiceUnavailable("not now"));
  plane.AddPod("web", "3");
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("web"), "");
  EXPECT_EQ(StringAt(plane.ScheduledCondition("web"), "reason"), "SchedulerError");
  EXPECT_EQ(StringAt(plane.ScheduledCondition("web"), "message"), "running Bind plugin \"DefaultBinder\": not now");
  EXPECT_EQ(plane.Metric(Pending("backoff")), 1);

  plane.AddPod("other", "3");
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("other"), "node-1") << "the room is free meanwhile";
  plane.DeletePod("other");
  plane.client().Refuse("binding", api::ServiceUnavailable("not now"));
  plane.bed().clock().Advance(999ms);
  EXPECT_EQ(plane.client().Sent("binding"), 2);
  plane.bed().clock().Advance(1ms);
  EXPECT_EQ(plane.client().Sent("binding"), 3) << "refused once more after one second";
  plane.bed().clock().Advance(1999ms);
  EXPECT_EQ(plane.NodeOf("web"), "");
  plane.bed().clock().Advance(1ms);
  EXPECT_EQ(plane.NodeOf("web"), "node-1") << "after two more";
  EXPECT_EQ(plane.Metric(Attempts("error")), 2);
}

TEST(Scheduler, SomebodyElsesBindIsRespected) {
  SchedulerPlane plane;
  plane.AddNode("node-1");
  plane.AddNode("node-2");
  plane.AddPod("there", "500m", {{"spec", {{"nodeName", "node-1"}}}});
  plane.client().Hold("binding");
  plane.AddPod("web", "3");
  plane.Settle();
  // The scheduler has chosen the emptier node, but another bind comes first.
  const Json target = {{"metadata", {{"name", "web"}}}, {"target", {{"name", "node-1"}}}};
  plane.bed().plane().handler().Write(
      {.resource = "pods", .object = {"default", "web"}, .subresource = "binding", .body = target}, {},
      [](const api::Client::Written& written) { EXPECT_TRUE(written.ok()); });
  plane.Settle();
  plane.client().Release();
  plane.bed().clock().Advance(30s);
  EXPECT_EQ(plane.NodeOf("web"), "node-1");
  EXPECT_EQ(StringAt(plane.ScheduledCondition("web"), "status"), "True");
  EXPECT_EQ(plane.client().Sent("binding"), 1);
  plane.AddPod("second", "3");
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("second"), "node-2") << "the node that was first chosen is free again";
}

TEST(Scheduler, APodDeletedWhileItsBindIsUnderWayMakesRoomAtOnce) {
  SchedulerPlane plane;
  plane.AddNode("node-1");
  plane.client().Hold("binding");
  plane.AddPod("first", "3", {{"metadata", {{"finalizers", {"example.com/hold"}}}}});
  plane.AddPod("second", "3");
  plane.Settle();
  EXPECT_EQ(plane.client().Sent("binding"), 1);
  plane.DeletePod("first");
  plane.Settle();
  EXPECT_EQ(plane.client().Sent("binding"), 2);
  plane.client().Release();
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("first"), "");
  EXPECT_EQ(plane.NodeOf("second"), "node-1");
}

TEST(Scheduler, ABindWaitsForTheReportThatThePodHasNoNode) {
  SchedulerPlane plane;
  plane.client().Hold("status");
  plane.AddPod("web");
  plane.Settle();
  plane.AddNode("node-1");
  plane.Settle();
  EXPECT_EQ(plane.client().Sent("binding"), 0);
  plane.client().Release();
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("web"), "node-1");
  EXPECT_EQ(StringAt(plane.ScheduledCondition("web"), "status"), "True");
}

TEST(Scheduler, TriesAgainAfterFiveMinutesAndWritesNothingThatIsThereAlready) {
  SchedulerPlane plane;
  plane.AddNode("node-1");
  plane.AddPod("web", "5");
  plane.Settle();
  EXPECT_EQ(plane.client().Sent("status"), 1);
  plane.bed().clock().Advance(5min);
  EXPECT_EQ(plane.Metric(Attempts("unschedulable")), 1);
  plane.bed().clock().Advance(30s);
  EXPECT_EQ(plane.Metric(Attempts("unschedulable")), 2);
  EXPECT_EQ(plane.client().Sent("status"), 1);
}

TEST(Scheduler, WhatIsBeingReportedIsNotReportedAgain) {
  SchedulerPlane plane;
  plane.AddNode("node-1");
  plane.client().Hold("status");
  plane.AddPod("web", "5");
  plane.Settle();
  // It is tried again and finds one more node too small, then the same once more; then it is given room.
  plane.bed().clock().Advance(330s);
  EXPECT_EQ(plane.client().Sent("status"), 1);
  plane.AddNode("node-2");
  plane.bed().clock().Advance(330s);
  EXPECT_EQ(plane.client().Sent("status"), 2);
  plane.AddNode("node-3", {{"status", {{"allocatable", {{"cpu", "8"}}}}}});
  plane.Settle();
  EXPECT_EQ(plane.client().Sent("binding"), 0);
  plane.client().Release();
  plane.Settle();
  EXPECT_EQ(plane.NodeOf("web"), "node-3");
  EXPECT_EQ(StringAt(plane.ScheduledCondition("web"), "status"), "True");
}

TEST(Scheduler, WaitingForANodeLeavesThePlaneIdle) {
  SchedulerPlane plane;
  plane.AddNode("node-1");
  plane.AddPod("web", "5");
  const auto outcome = plane.bed().clock().RunUntilIdle(1h);
  EXPECT_EQ(outcome.why, testbed::RunOutcome::Why::kIdle);
  EXPECT_EQ(outcome.now, api::Time(1767225600s));
}

TEST(Scheduler, StoppedInTheMiddleItDoesNothingMore) {
  SchedulerPlane plane;
  plane.AddNode("node-1");
  plane.client().Hold("binding");
  plane.client().Refuse("status", api::ServiceUnavailable("not now"));
  plane.AddPod("first", "3");
  plane.AddPod("second", "3");
  plane.Settle();
  plane.StopScheduler();
  plane.client().Release();
  plane.AddPod("third");
  plane.AddNode("node-2");
  plane.bed().clock().Advance(10min);
  EXPECT_EQ(plane.NodeOf("first"), "node-1") << "what was sent has been sent";
  EXPECT_EQ(plane.NodeOf("third"), "");
}

}  // namespace
}  // namespace terrarium::kubelet_fake
