#include "controllers/node_lifecycle/internal/zones.h"

#include <gtest/gtest.h>

namespace terrarium::controllers {
namespace {

using namespace std::chrono_literals;

const api::Time kStart{std::chrono::seconds(1'000'000)};

TEST(ZoneState, ByTheShareOfNodesThatAreNotReady) {
  EXPECT_EQ(StateOf({.ready = 3, .not_ready = 0}), ZoneState::kNormal);
  EXPECT_EQ(StateOf({.ready = 0, .not_ready = 1}), ZoneState::kFullDisruption);
  EXPECT_EQ(StateOf({.ready = 1, .not_ready = 2}), ZoneState::kNormal);              // fewer than three
  EXPECT_EQ(StateOf({.ready = 3, .not_ready = 3}), ZoneState::kNormal);              // 50%
  EXPECT_EQ(StateOf({.ready = 9, .not_ready = 11}), ZoneState::kPartialDisruption);  // 55%
}

TEST(ZoneState, ASmallZoneInTroubleStopsAndALargeOneSlowsDown) {
  EXPECT_EQ(RateOf(ZoneState::kNormal, 3), 0.1);
  EXPECT_EQ(RateOf(ZoneState::kFullDisruption, 3), 0.1);
  EXPECT_EQ(RateOf(ZoneState::kPartialDisruption, 50), 0);
  EXPECT_EQ(RateOf(ZoneState::kPartialDisruption, 51), 0.01);
}

TEST(TaintQueue, GivesOneNodeImmediatelyAndThenOneInTenSeconds) {
  TaintQueue queue(kStart);
  queue.Add("a");
  queue.Add("b");
  queue.Add("a");
  EXPECT_EQ(queue.TryTake(kStart), "a");
  EXPECT_EQ(queue.TryTake(kStart), std::nullopt);
  ASSERT_TRUE(queue.NextAt(kStart));
  EXPECT_EQ(*queue.NextAt(kStart), kStart + 10s);
  EXPECT_EQ(queue.TryTake(kStart + 9s), std::nullopt);
  EXPECT_EQ(queue.TryTake(*queue.NextAt(kStart + 9s)), "b");
  EXPECT_EQ(queue.NextAt(kStart + 1h), std::nullopt);
}

TEST(TaintQueue, TokensDoNotPileUp) {
  TaintQueue queue(kStart);
  for (const char* node : {"a", "b", "c"}) queue.Add(node);
  EXPECT_TRUE(queue.TryTake(kStart + 1h));
  EXPECT_FALSE(queue.TryTake(kStart + 1h));
}

TEST(TaintQueue, ARemovedNodeIsNotGiven) {
  TaintQueue queue(kStart);
  queue.Add("a");
  queue.Add("b");
  queue.Remove("a");
  EXPECT_FALSE(queue.Contains("a"));
  EXPECT_EQ(queue.TryTake(kStart), "b");
}

TEST(TaintQueue, AStoppedQueueWaitsForItsRateAndThenForAToken) {
  TaintQueue queue(kStart);
  queue.SetRate(0, kStart);
  queue.Add("a");
  EXPECT_EQ(queue.NextAt(kStart), std::nullopt);
  EXPECT_FALSE(queue.TryTake(kStart + 1h));
  queue.SetRate(0.1, kStart + 1h);
  EXPECT_EQ(queue.NextAt(kStart + 1h), kStart + 1h + 10s);
}

TEST(Zones, OneZoneDownIsTaintedWhileTheOthersLive) {
  Zones zones;
  zones.QueueOf("a", kStart).Add("node-0");
  EXPECT_EQ(zones.Update({{"a", {.ready = 0, .not_ready = 1}}, {"b", {.ready = 1}}}, kStart),
            Zones::Turn::kNone);
  EXPECT_TRUE(zones.QueueOf("a", kStart).TryTake(kStart));
}

TEST(Zones, WithoutAReadyNodeNothingIsTainted) {
  Zones zones;
  EXPECT_EQ(zones.Update({{"a", {.ready = 1}}}, kStart), Zones::Turn::kNone);
  zones.QueueOf("a", kStart).Add("node-0");
  const std::map<std::string, ZoneCount> down = {{"a", {.ready = 0, .not_ready = 1}}};
  EXPECT_EQ(zones.Update(down, kStart), Zones::Turn::kAllDown);
  EXPECT_EQ(zones.Update(down, kStart + 5s), Zones::Turn::kNone);
  EXPECT_FALSE(zones.QueueOf("a", kStart).TryTake(kStart + 1h));
  EXPECT_EQ(zones.Update({{"a", {.ready = 1}}}, kStart + 1h), Zones::Turn::kNotAllDown);
  EXPECT_TRUE(zones.QueueOf("a", kStart).TryTake(kStart + 2h));
}

TEST(Zones, AClusterWithoutNodesIsNotDown) {
  Zones zones;
  EXPECT_EQ(zones.Update({}, kStart), Zones::Turn::kNone);
  EXPECT_EQ(zones.Update({{"a", {.ready = 1}}}, kStart), Zones::Turn::kNone);
}

}  // namespace
}  // namespace terrarium::controllers
