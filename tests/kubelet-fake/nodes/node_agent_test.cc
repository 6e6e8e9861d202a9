#include "kubelet-fake/nodes/node_agent.h"

#include <gtest/gtest.h>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "testbed/control_plane/components.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::kubelet_fake {
namespace {

using api::Json;
using api::StringAt;
using testbed::Testbed;
using namespace std::chrono_literals;

NodeAgent& Agent(Testbed& bed) { return bed.control_plane().components().kubelet()->nodes; }

Json NodeOf(Testbed& bed, std::string_view name) {
  auto node = bed.Get("nodes", "", name);
  return node == nullptr ? Json() : node->Parse();
}

std::string RenewTime(Testbed& bed, std::string_view node) {
  auto lease = bed.Get("leases", "kube-node-lease", node);
  return lease == nullptr ? "" : std::string(StringAt(*lease->Document(), "spec", "renewTime"));
}

std::string Heartbeat(Testbed& bed, std::string_view node) {
  Json document = NodeOf(bed, node);
  return std::string(StringAt(*api::FindCondition(document, "Ready"), "lastHeartbeatTime"));
}

TEST(NodeAgent, RegistersItsNodesWithLeases) {
  Testbed bed({.nodes = 4});
  EXPECT_EQ(bed.List("nodes").size(), 4u);
  EXPECT_TRUE(Agent(bed).IsUp("node-3"));
  EXPECT_FALSE(Agent(bed).IsUp("node-4"));
  EXPECT_EQ(Agent(bed).InternalIp("node-3"), "172.18.0.5");
  EXPECT_EQ(RenewTime(bed, "node-3"), "2026-01-01T00:00:00.000000Z");
}

TEST(NodeAgent, TheClusterIsIdleWhileNodesBeat) {
  Testbed bed({.nodes = 3});
  const api::Time start = bed.Now();
  auto outcome = bed.clock().RunUntilIdle(1h);
  EXPECT_EQ(outcome.why, testbed::RunOutcome::Why::kIdle);
  EXPECT_LT(outcome.now, start + 1min);
}

TEST(NodeAgent, LeasesAreRenewedEveryTenSecondsAndStatusesEveryFiveMinutes) {
  Testbed bed({.nodes = 2});
  const std::string registered = Heartbeat(bed, "node-0");
  std::set<std::string> renewals, heartbeats;
  for (int second = 0; second < 900; ++second) {
    bed.clock().Advance(1s);
    renewals.insert(RenewTime(bed, "node-0"));
    heartbeats.insert(Heartbeat(bed, "node-0"));
  }
  EXPECT_GE(renewals.size(), 90u);
  EXPECT_LE(renewals.size(), 91u);
  heartbeats.erase(registered);
  EXPECT_GE(heartbeats.size(), 2u);
  EXPECT_LE(heartbeats.size(), 3u);
}

// Nodes and Leases, without what depends on the number of writes.
std::vector<Json> Heartbeats(Testbed& bed) {
  std::vector<Json> out;
  for (const char* resource : {"nodes", "leases"}) {
    for (const api::ObjectPtr& object : bed.List(resource)) {
      Json document = object->Parse();
      document["metadata"].erase("resourceVersion");
      document["metadata"].erase("managedFields");
      out.push_back(std::move(document));
    }
  }
  return out;
}

TEST(NodeAgent, AClockThatSkipsHeartbeatsLeavesThemAsIfItHadNot) {
  Testbed skipping({.nodes = 11}), counting({.nodes = 11});
  for (api::Duration time : {70min + 0s, 47min + 11s, 31min + 1s}) {
    const std::int64_t before = skipping.control_plane().store().CurrentRevision();
    skipping.clock().Advance(time);
    EXPECT_LT(skipping.control_plane().store().CurrentRevision() - before, 500);
    // A move with a condition skips nothing.
    counting.clock().RunUntil([] { return false; }, time);
    EXPECT_EQ(Heartbeats(skipping), Heartbeats(counting));
  }
}

TEST(NodeAgent, WatchesResumeAfterTwelveIdleHours) {
  Testbed bed({.nodes = 3});
  const std::int64_t before = bed.control_plane().store().CurrentRevision();
  bed.clock().Advance(12h);
  for (const char* resource : {"pods", "nodes", "leases"})
    EXPECT_TRUE(bed.control_plane().store().StartWatch({.resource = resource, .from_revision = before}).ok());
}

TEST(NodeAgent, WatchesResumeAfterTwelveHoursOfHeartbeats) {
  Testbed bed({.nodes = 3});
  const std::int64_t before = bed.control_plane().store().CurrentRevision();
  bed.clock().RunUntil([] { return false; }, 12h);
  storage::Store& store = bed.control_plane().store();
  EXPECT_TRUE(store.StartWatch({.resource = "pods", .from_revision = before}).ok());
  EXPECT_FALSE(store.StartWatch({.resource = "leases", .from_revision = before}).ok());
}

TEST(NodeAgent, ANodeCreatedThroughTheApiIsCompletedAndRun) {
  Testbed bed({.nodes = 1});
  bed.Must(bed.Create("nodes", "",
                      {{"metadata", {{"name", "mine"}}}, {"status", {{"capacity", {{"cpu", "2"}}}}}}));
  bed.clock().Settle();
  Json node = NodeOf(bed, "mine");
  EXPECT_EQ(StringAt(node, "status", "capacity", "cpu"), "2");
  EXPECT_EQ(StringAt(node, "status", "allocatable", "pods"), "110");
  EXPECT_EQ(StringAt(*api::FindCondition(node, "Ready"), "status"), "True");
  EXPECT_EQ(StringAt(node, "metadata", "labels", "kubernetes.io/hostname"), "mine");
  EXPECT_FALSE(StringAt(node, "spec", "podCIDR").empty());
  EXPECT_FALSE(RenewTime(bed, "mine").empty());
  EXPECT_TRUE(Agent(bed).IsUp("mine"));
  EXPECT_NE(Agent(bed).InternalIp("mine"), Agent(bed).InternalIp("node-0"));
}

TEST(NodeAgent, AFailedNodeIsSilentUntilItRecovers) {
  Testbed bed({.nodes = 2});
  std::vector<std::string> changes;
  Agent(bed).OnChange([&changes](const std::string& node) { changes.push_back(node); });
  bed.clock().Advance(60s);
  ASSERT_EQ(*Agent(bed).Fail("node-1"), api::Change::kChanged);
  EXPECT_EQ(*Agent(bed).Fail("node-1"), api::Change::kUnchanged);
  EXPECT_FALSE(Agent(bed).IsUp("node-1"));
  EXPECT_EQ(Agent(bed).FailedNodes(), std::set<std::string>{"node-1"});
  const std::string last = RenewTime(bed, "node-1");
  bed.clock().Advance(10min);
  EXPECT_EQ(RenewTime(bed, "node-1"), last);
  EXPECT_EQ(StringAt(*api::FindCondition(NodeOf(bed, "node-0"), "Ready"), "status"), "True");
  ASSERT_EQ(*Agent(bed).Recover("node-1"), api::Change::kChanged);
  bed.clock().Settle();
  EXPECT_EQ(RenewTime(bed, "node-1"), api::FormatMicroTime(bed.Now()));
  Json node = NodeOf(bed, "node-1");
  EXPECT_EQ(StringAt(*api::FindCondition(node, "Ready"), "status"), "True");
  EXPECT_EQ(StringAt(*api::FindCondition(node, "PIDPressure"), "status"), "False");
  EXPECT_EQ(changes, (std::vector<std::string>{"node-1", "node-1"}));
}

TEST(NodeAgent, ANodeThatIsNotThereCannotFail) {
  Testbed bed({.nodes = 1});
  auto failed = Agent(bed).Fail("node-7");
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.status().code, 404);
  EXPECT_EQ(failed.status().message, "nodes \"node-7\" not found");
  EXPECT_EQ(Agent(bed).Recover("node-7").status().code, 404);
}

TEST(NodeAgent, ADeletedNodeIsDroppedAndCanBeCreatedAgain) {
  Testbed bed({.nodes = 2});
  ASSERT_EQ(*Agent(bed).Fail("node-1"), api::Change::kChanged);
  bed.Must(bed.Delete("nodes", {"", "node-1"}));
  bed.clock().Advance(1min);
  EXPECT_EQ(bed.Get("nodes", "", "node-1"), nullptr);
  EXPECT_FALSE(Agent(bed).IsUp("node-1"));
  EXPECT_EQ(Agent(bed).Recover("node-1").status().code, 404);

  auto created = bed.Must(bed.Create("nodes", "", {{"metadata", {{"name", "node-1"}}}}));
  bed.clock().Advance(1min);
  EXPECT_TRUE(Agent(bed).IsUp("node-1"));
  EXPECT_EQ(StringAt(*api::FindCondition(NodeOf(bed, "node-1"), "Ready"), "status"), "True");
  auto lease = bed.Get("leases", "kube-node-lease", "node-1");
  ASSERT_NE(lease, nullptr);
  EXPECT_EQ((*lease->Document())["metadata"]["ownerReferences"][0]["uid"], created->header().uid);
}

TEST(NodeAgent, ADeletedOrChangedLeaseIsRestored) {
  Testbed bed({.nodes = 1});
  bed.Must(bed.Delete("leases", {"kube-node-lease", "node-0"}));
  bed.clock().Advance(11s);
  const std::string renewed = RenewTime(bed, "node-0");
  EXPECT_FALSE(renewed.empty());
  bed.Must(bed.Patch("leases", {"kube-node-lease", "node-0"}, {{"metadata", {{"labels", {{"a", "b"}}}}}}));
  bed.clock().Advance(11s);
  EXPECT_GT(RenewTime(bed, "node-0"), renewed);
  EXPECT_EQ(StringAt(*bed.Get("leases", "kube-node-lease", "node-0")->Document(), "metadata", "labels", "a"),
            "b");
}

TEST(NodeAgent, AHandMadePressureStandsAndAnUnknownConditionIsPutRight) {
  Testbed bed({.nodes = 1});
  Json pressure = {{"type", "DiskPressure"}, {"status", "True"}};
  Json unknown = {{"type", "PIDPressure"}, {"status", "Unknown"}};
  Json patch = {{"status", {{"conditions", Json::array({pressure, unknown})}}}};
  bed.Must(bed.Patch("nodes", {"", "node-0"}, std::move(patch), "status"));
  bed.clock().Advance(10min);
  Json node = NodeOf(bed, "node-0");
  EXPECT_EQ(StringAt(*api::FindCondition(node, "DiskPressure"), "status"), "True");
  EXPECT_EQ(StringAt(*api::FindCondition(node, "PIDPressure"), "status"), "False");
}

TEST(NodeAgent, ACordonIsReportedAsAnEvent) {
  Testbed bed({.nodes = 1});
  bed.Must(bed.Patch("nodes", {"", "node-0"}, {{"spec", {{"unschedulable", true}}}}));
  bed.clock().Advance(5s);
  std::set<std::string> messages;
  for (const auto& event : bed.List("events")) messages.emplace(StringAt(*event->Document(), "message"));
  EXPECT_TRUE(messages.contains("Node node-0 status is now: NodeReady"));
  EXPECT_TRUE(messages.contains("Node node-0 status is now: NodeNotSchedulable"));
}

}  // namespace
}  // namespace terrarium::kubelet_fake
