#include "controllers/daemonset/internal/rollout.h"

#include <deque>

#include <gtest/gtest.h>

#include "controllers/daemonset/internal/failed_pods.h"
#include "tests/controllers/runtime/fake_client.h"

namespace terrarium::controllers::daemonset {
namespace {

using api::Json;
using namespace std::chrono_literals;

constexpr api::Time kNow{1'000s};

Json DaemonSet(const Json& rolling, const char* type = "RollingUpdate") {
  return {{"spec", {{"updateStrategy", {{"type", type}, {"rollingUpdate", rolling}}}}}};
}

// TestGetUnavailableNumbers of Kubernetes, and surge.
TEST(LimitsOf, RoundsPercentagesUp) {
  struct Case {
    Json rolling;
    int desired;
    int surge;
    int unavailable;
  };
  const Case cases[] = {
      {{{"maxUnavailable", 1}, {"maxSurge", 0}}, 10, 0, 1},
      {{{"maxUnavailable", "50%"}}, 5, 0, 3},
      {{{"maxUnavailable", "1%"}}, 10, 0, 1},
      {{{"maxUnavailable", "100%"}}, 7, 0, 7},
      {{{"maxUnavailable", 0}, {"maxSurge", "30%"}}, 10, 3, 0},
      {{{"maxUnavailable", 0}, {"maxSurge", "1%"}}, 3, 1, 0},
      {{{"maxUnavailable", 0}, {"maxSurge", 0}}, 3, 0, 1},
      {{{"maxUnavailable", "50%"}}, 0, 0, 0},
  };
  for (const Case& c : cases) {
    const RolloutLimits limits = LimitsOf(DaemonSet(c.rolling), c.desired);
    EXPECT_EQ(limits.surge, c.surge) << c.rolling;
    EXPECT_EQ(limits.unavailable, c.unavailable) << c.rolling;
  }
  EXPECT_TRUE(AllowsSurge(DaemonSet({{"maxSurge", "1%"}})));
  EXPECT_FALSE(AllowsSurge(DaemonSet({{"maxSurge", 0}})));
  EXPECT_FALSE(AllowsSurge(DaemonSet({{"maxSurge", 3}}, "OnDelete")));
}

class NextRolloutChangesTest : public ::testing::Test {
 protected:
  explicit NextRolloutChangesTest() { nodes_.SetRules({.hash = "new"}, kNow); }
  void UseSurge() { nodes_.SetRules({.hash = "new", .surge = true}, kNow); }

  const DaemonPod& Pod(const std::string& node, const std::string& hash, bool ready,
                       NodeFit fit = {true, true}) {
    const std::string name = node + "-" + hash;
    Json labels = {{"controller-revision-hash", hash}};
    pods_.push_back(
        {.pod = controllers_testing::MakeObject({{"metadata", {{"name", name}, {"labels", labels}}}}),
         .bound = true,
         .phase = api::Phase::kRunning,
         .ready = ready});
    nodes_.AddPod({node, true, fit}, pods_.back(), kNow);
    return pods_.back();
  }
  void Nodes(int count) {
    for (int i = 0; i < count; ++i) nodes_.SetNode({"n" + std::to_string(i), true, {true, true}}, kNow);
  }
  std::string Next(int surge, int unavailable, std::size_t most = 250) {
    PodChanges changes = NextRolloutChanges(nodes_, {surge, unavailable}, most);
    std::string text;
    for (const std::string& node : changes.create) text += (text.empty() ? "+" : " +") + node;
    for (const DaemonPod* pod : changes.remove) text += (text.empty() ? "-" : " -") + pod->pod->header().name;
    return text;
  }

  DaemonNodes nodes_;
  std::deque<DaemonPod> pods_;
};

TEST_F(NextRolloutChangesTest, DeletesOldPodsWithinMaxUnavailable) {
  for (const char* node : {"n0", "n1", "n2", "n3"}) Pod(node, "old", true);
  EXPECT_EQ(Next(0, 0), "");
  EXPECT_EQ(Next(0, 1), "-n0-old");
  EXPECT_EQ(Next(0, 3), "-n0-old -n1-old -n2-old");
  EXPECT_EQ(Next(0, 9), "-n0-old -n1-old -n2-old -n3-old");
  EXPECT_EQ(Next(0, 9, 2), "-n0-old -n1-old");
}

TEST_F(NextRolloutChangesTest, OldPodsThatAreNotAvailableGoFirstAndAlways) {
  Pod("n0", "old", true);
  Pod("n1", "old", true);
  Pod("n2", "old", false);
  Pod("n3", "old", false);
  EXPECT_EQ(Next(0, 1), "-n2-old -n3-old");
  EXPECT_EQ(Next(0, 3), "-n2-old -n3-old -n0-old");
}

TEST_F(NextRolloutChangesTest, NewPodsThatAreNotAvailableCount) {
  Pod("n0", "new", false);
  Pod("n1", "old", true);
  Pod("n2", "old", true);
  EXPECT_EQ(Next(0, 1), "");
  EXPECT_EQ(Next(0, 2), "-n1-old");
  Nodes(4);  // n3 has no pod
  EXPECT_EQ(Next(0, 2), "");
  EXPECT_EQ(Next(0, 3), "-n1-old");
}

TEST_F(NextRolloutChangesTest, SurgeCreatesNewPodsFirst) {
  UseSurge();
  for (const char* node : {"n0", "n1", "n2"}) Pod(node, "old", true);
  EXPECT_EQ(Next(2, 0), "+n0 +n1");
  Pod("n0", "new", false);
  EXPECT_EQ(Next(2, 0), "+n1");
  Pod("n1", "new", true);
  EXPECT_EQ(Next(2, 0), "+n2 -n1-old");
  EXPECT_EQ(Next(1, 0), "-n1-old");
}

TEST_F(NextRolloutChangesTest, SurgeReplacesUnavailablePodsBeyondTheLimit) {
  UseSurge();
  Pod("n0", "old", false);
  Pod("n1", "old", false);
  Pod("n2", "old", true);
  EXPECT_EQ(Next(1, 0), "+n0 +n1 +n2");
}

TEST_F(NextRolloutChangesTest, SurgeKeepsPodsOfUnfitNodesUntilOthersServe) {
  UseSurge();
  Pod("n0", "old", true, {false, true});
  Pod("n1", "new", false);
  EXPECT_EQ(Next(1, 0), "");
  Pod("n2", "old", false, {false, true});
  EXPECT_EQ(Next(1, 0), "-n2-old") << "one that is not available goes immediately";
  const DaemonPod& late = Pod("n3", "new", true);
  EXPECT_EQ(Next(1, 0), "-n2-old");
  nodes_.RemovePod("n1", pods_[1], kNow);
  nodes_.SetNode({"n1", true, {false, false}}, kNow);
  EXPECT_EQ(Next(1, 0), "-n2-old -n0-old") << late.pod->header().name << " serves all nodes that get a pod";
}

TEST(DaemonNodes, KeepsSumsThroughChanges) {
  DaemonNodes nodes;
  nodes.SetRules({.hash = "new", .min_ready = 10s}, kNow);
  DaemonPod pod{.pod = controllers_testing::MakeObject(
                    {{"metadata", {{"name", "p"}, {"labels", {{"controller-revision-hash", "new"}}}}}}),
                .bound = true,
                .phase = api::Phase::kRunning,
                .ready = true,
                .ready_since = kNow - 4s};
  nodes.SetNode({"a", true, {true, true}}, kNow);
  nodes.SetNode({"b", true, {false, true}}, kNow);
  EXPECT_EQ(nodes.counts().desired, 1);
  EXPECT_EQ(nodes.busy().size(), 1u);
  EXPECT_EQ(nodes.Find("b"), nullptr);
  nodes.AddPod({"a", true, {true, true}}, pod, kNow);
  EXPECT_EQ(nodes.counts().ready, 1);
  EXPECT_EQ(nodes.counts().available, 0);
  EXPECT_EQ(nodes.counts().waiting, 1);
  EXPECT_TRUE(nodes.busy().empty());
  EXPECT_TRUE(nodes.IsInUse("new"));
  EXPECT_EQ(nodes.NextChange(), kNow + 6s);
  nodes.Advance(kNow + 6s);
  EXPECT_EQ(nodes.counts().available, 1);
  EXPECT_EQ(nodes.counts().waiting, 0);
  EXPECT_EQ(nodes.NextChange(), kNoTime);
  nodes.SetRules({.hash = "newer", .min_ready = 10s}, kNow + 6s);
  EXPECT_EQ(nodes.counts().updated, 0);
  EXPECT_EQ(nodes.At(RolloutStep::kCandidate).size(), 1u);
  nodes.SetNode({"a"}, kNow + 6s);
  EXPECT_EQ(nodes.counts().desired, 0);
  nodes.RemovePod("a", pod, kNow + 6s);
  EXPECT_EQ(nodes.Find("a"), nullptr);
  EXPECT_FALSE(nodes.IsInUse("new"));
  EXPECT_TRUE(nodes.At(RolloutStep::kCandidate).empty());
}

TEST(FailedPods, WaitTwiceAsLongEachTime) {
  FailedPods pods;
  api::Time now = kNow;
  EXPECT_EQ(pods.Delay("u", 1, "a", now), std::nullopt);
  EXPECT_EQ(pods.Delay("u", 1, "a", now), std::optional<api::Duration>(1s));
  EXPECT_EQ(pods.Delay("u", 1, "b", now), std::nullopt) << "another node";
  EXPECT_EQ(pods.Delay("u", 2, "b", now), std::nullopt) << "another generation";
  now += 1s;
  EXPECT_EQ(pods.Delay("u", 1, "a", now), std::nullopt);
  now += 1s;
  EXPECT_EQ(pods.Delay("u", 1, "a", now), std::optional<api::Duration>(2s));
  for (int i = 0; i < 20; ++i) {
    now += 20min;
    EXPECT_EQ(pods.Delay("u", 1, "a", now), std::nullopt);
  }
  EXPECT_EQ(pods.Delay("u", 1, "a", now), std::optional<api::Duration>(15min));
  now += 31min;
  EXPECT_EQ(pods.Delay("u", 1, "a", now), std::nullopt);
  EXPECT_EQ(pods.Delay("u", 1, "a", now), std::optional<api::Duration>(1s)) << "forgotten";
  pods.Forget("u");
  EXPECT_EQ(pods.Delay("u", 1, "a", now), std::nullopt);
}

}  // namespace
}  // namespace terrarium::controllers::daemonset
