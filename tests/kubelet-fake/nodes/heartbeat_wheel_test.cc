#include "kubelet-fake/nodes/internal/heartbeat_wheel.h"

#include <gtest/gtest.h>

namespace terrarium::kubelet_fake {
namespace {

using namespace std::chrono_literals;

const api::Time kStart{std::chrono::seconds(1'000'000)};

TEST(HeartbeatWheel, AnEmptyWheelIsNeverDue) { EXPECT_FALSE(HeartbeatWheel(kStart).NextDue(kStart)); }

TEST(HeartbeatWheel, EveryNodeIsDueOnceInARound) {
  HeartbeatWheel wheel(kStart);
  std::map<std::string, int> beats;
  for (int i = 0; i < 25; ++i) wheel.Add("node-" + std::to_string(i));
  for (auto at = wheel.NextDue(kStart); *at <= kStart + HeartbeatWheel::kPeriod; at = wheel.NextDue(*at))
    for (const std::string& node : wheel.DueAt(*at)) ++beats[node];
  EXPECT_EQ(beats.size(), 25u);
  for (const auto& [node, count] : beats) EXPECT_EQ(count, 1) << node;
}

TEST(HeartbeatWheel, NodesAreSpreadEvenlyOverTheRound) {
  HeartbeatWheel wheel(kStart);
  for (int i = 0; i < 1000; ++i) wheel.Add("node-" + std::to_string(i));
  auto at = kStart;
  for (int i = 0; i < 10; ++i) {
    at = *wheel.NextDue(at);
    EXPECT_EQ(at, kStart + std::chrono::seconds(i + 1));
    EXPECT_EQ(wheel.DueAt(at).size(), 100u);
  }
}

TEST(HeartbeatWheel, InstantsWithoutNodesAreSkipped) {
  HeartbeatWheel wheel(kStart);
  wheel.Add("a");
  wheel.Add("b");
  wheel.Remove("a");
  auto first = wheel.NextDue(kStart);
  EXPECT_EQ(wheel.DueAt(*first), std::set<std::string>{"b"});
  EXPECT_EQ(wheel.NextDue(*first), *first + HeartbeatWheel::kPeriod);
}

TEST(HeartbeatWheel, ANodeAddedTwiceBeatsOnce) {
  HeartbeatWheel wheel(kStart);
  wheel.Add("a");
  wheel.Add("a");
  auto first = wheel.NextDue(kStart);
  EXPECT_EQ(wheel.NextDue(*first), *first + HeartbeatWheel::kPeriod);
}

}  // namespace
}  // namespace terrarium::kubelet_fake
