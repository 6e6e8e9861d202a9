#include "controllers/node_lifecycle/internal/node_health.h"

#include <gtest/gtest.h>

#include "api/core_v1/pod.h"
#include "api/json_access.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::StringAt;
using namespace std::chrono_literals;

const api::Time kStart = *api::ParseTime("2026-01-01T00:00:00Z");

NodeFacts Node(Ready ready, std::string heartbeat = "h1") {
  NodeFacts facts;
  facts.created = kStart;
  facts.ready = ready;
  facts.heartbeat = std::move(heartbeat);
  return facts;
}

TEST(NodeFacts, AreReadFromTheDocument) {
  const Json unreachable = {{"key", "node.kubernetes.io/unreachable"}, {"effect", "NoExecute"}};
  const Json not_ready = {{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoSchedule"}};
  Json node = {{"metadata",
                {{"creationTimestamp", "2026-01-01T00:00:00Z"},
                 {"labels",
                  {{"topology.kubernetes.io/region", "r"},
                   {"topology.kubernetes.io/zone", "z"},
                   {"node.kubernetes.io/exclude-disruption", ""}}}}},
               {"spec", {{"taints", Json::array({unreachable, not_ready})}}},
               {"status",
                {{"conditions", Json::array({Json{{"type", "Ready"},
                                                  {"status", "False"},
                                                  {"lastHeartbeatTime", "2026-01-01T00:00:05Z"}}})}}}};
  NodeFacts facts = FactsOf(node);
  EXPECT_EQ(facts.created, kStart);
  EXPECT_EQ(facts.ready, Ready::kFalse);
  EXPECT_EQ(facts.heartbeat, "2026-01-01T00:00:05Z");
  EXPECT_EQ(facts.zone, std::string("r:\0:z", 5));
  EXPECT_FALSE(facts.counts_for_zone);
  EXPECT_TRUE(facts.evicts_unreachable);
  EXPECT_FALSE(facts.evicts_not_ready);
  EXPECT_EQ(FactsOf(Json::object()).ready, Ready::kNone);
  EXPECT_EQ(FactsOf(Json::object()).zone, "");
}

TEST(NodeHealth, ANodeIsSilentFiftySecondsAfterItsLastSign) {
  NodeHealth health;
  health.Observe(Node(Ready::kTrue), 0, kStart);
  EXPECT_FALSE(health.Silent(kStart + 50s));
  EXPECT_TRUE(health.Silent(kStart + 51s));
}

TEST(NodeHealth, ANewHeartbeatIsASignOfLifeAndAnOldOneIsNot) {
  NodeHealth health;
  health.Observe(Node(Ready::kTrue, "h1"), 0, kStart);
  health.Observe(Node(Ready::kTrue, "h1"), 0, kStart + 30s);
  EXPECT_TRUE(health.Silent(kStart + 51s));
  health.Observe(Node(Ready::kTrue, "h2"), 0, kStart + 30s);
  EXPECT_FALSE(health.Silent(kStart + 51s));
}

TEST(NodeHealth, ARenewedLeaseIsASignOfLife) {
  NodeHealth health;
  health.Observe(Node(Ready::kTrue), 7, kStart);
  health.Observe(Node(Ready::kTrue), 7, kStart + 40s);
  EXPECT_TRUE(health.Silent(kStart + 51s));
  health.Observe(Node(Ready::kTrue), 9, kStart + 40s);
  EXPECT_FALSE(health.Silent(kStart + 90s));
  EXPECT_TRUE(health.Silent(kStart + 91s));
}

TEST(NodeHealth, ANodeWithoutAHeartbeatHasAMinuteFromItsCreation) {
  NodeHealth health;
  health.Observe(Node(Ready::kNone, ""), 0, kStart + 30s);
  EXPECT_FALSE(health.Silent(kStart + 60s));
  EXPECT_TRUE(health.Silent(kStart + 61s));
  health.Observe(Node(Ready::kTrue), 0, kStart + 60s);
  EXPECT_FALSE(health.Silent(kStart + 110s));
}

TEST(NodeHealth, ANewControllerGivesEveryNodeTheWholeGracePeriod) {
  NodeHealth health;
  health.Observe(Node(Ready::kTrue, "long ago"), 0, kStart + 1h);
  EXPECT_FALSE(health.Silent(kStart + 1h + 50s));
}

TEST(NodeHealth, UnknownWrittenByTheControllerIsNotAHeartbeat) {
  NodeHealth health;
  health.Observe(Node(Ready::kTrue, "h1"), 0, kStart);
  health.Observe(Node(Ready::kUnknown, "h1"), 0, kStart + 55s);
  EXPECT_TRUE(health.Silent(kStart + 55s));
}

TEST(SilentNode, KubeletConditionsBecomeUnknownWhetherPresentOrNot) {
  Json node = {
      {"metadata", {{"creationTimestamp", "2025-12-31T00:00:00Z"}}},
      {"status",
       {{"conditions",
         Json::array(
             {Json{{"type", "Ready"}, {"status", "True"}, {"lastHeartbeatTime", "2025-12-31T23:00:00Z"}},
              Json{{"type", "NetworkUnavailable"}, {"status", "False"}}})}}}};
  Json silent = *SilentNode(node, kStart);
  const Json* ready = api::FindCondition(silent, "Ready");
  EXPECT_EQ(StringAt(*ready, "status"), "Unknown");
  EXPECT_EQ(StringAt(*ready, "reason"), "NodeStatusUnknown");
  EXPECT_EQ(StringAt(*ready, "message"), "Kubelet stopped posting node status.");
  EXPECT_EQ(StringAt(*ready, "lastTransitionTime"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(StringAt(*ready, "lastHeartbeatTime"), "2025-12-31T23:00:00Z");
  const Json* memory = api::FindCondition(silent, "MemoryPressure");
  EXPECT_EQ(StringAt(*memory, "reason"), "NodeStatusNeverUpdated");
  EXPECT_EQ(StringAt(*memory, "lastHeartbeatTime"), "2025-12-31T00:00:00Z");
  EXPECT_EQ(StringAt(*api::FindCondition(silent, "NetworkUnavailable"), "status"), "False");
  EXPECT_FALSE(SilentNode(silent, kStart + 5s));
}

}  // namespace
}  // namespace terrarium::controllers
