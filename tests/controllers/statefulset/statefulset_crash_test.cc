// The controller-manager crashes in the middle of a rollout and of scaling, at each of its writes, before and
// after it. The set must reach its spec, with one pod for each ordinal.

#include <gtest/gtest.h>

#include "api/base/prng.h"
#include "tests/controllers/statefulset/statefulset_testing.h"

namespace terrarium::controllers_testing {
namespace {

using api::Json;
using testbed::Testbed;
using namespace std::chrono_literals;

struct CrashCase {
  const char* policy;
  Testbed::CrashMoment moment;
};

class StatefulSetCrash : public testing::TestWithParam<CrashCase> {};

TEST_P(StatefulSetCrash, TheUpdateContinues) {
  // A rollout of three pods has about 20 writes: revision, deletions, creations and statuses.
  for (int write = 1; write <= 20; ++write) {
    SCOPED_TRACE(write);
    SetCluster cluster({.seed = static_cast<std::uint64_t>(write), .nodes = 2});
    cluster.CreateSet(3, {{"podManagementPolicy", GetParam().policy}},
                      {{"ready-delay", "2s"}, {"stop-after", "1s"}});
    cluster.Idle();
    cluster.SetImage("web:2");
    cluster.ScaleTo(4);
    cluster.CrashAtWrite("controller-manager", write, GetParam().moment);
    cluster.Advance(5min);
    if (!cluster.IsRunning("controller-manager")) {
      ASSERT_TRUE(cluster.Start("controller-manager").ok());
    }
    cluster.Idle();
    EXPECT_EQ(cluster.PodStates(), "0 1 2 3");
    EXPECT_EQ(cluster.Images(), "2 2 2 2");
    EXPECT_EQ(cluster.Counter("updatedReplicas"), 4);
    EXPECT_EQ(cluster.Counter("availableReplicas"), 4);
    EXPECT_EQ(cluster.Status()["currentRevision"], cluster.Status()["updateRevision"]);
    EXPECT_EQ(cluster.Revisions().size(), 2u);
  }
}
INSTANTIATE_TEST_SUITE_P(Moments, StatefulSetCrash,
                         testing::Values(CrashCase{"OrderedReady", Testbed::CrashMoment::kBeforeWrite},
                                         CrashCase{"OrderedReady", Testbed::CrashMoment::kAfterWrite},
                                         CrashCase{"Parallel", Testbed::CrashMoment::kAfterWrite}));

// In any order of the components, no ordinal starts before the one below is ready.
TEST(StatefulSetOrder, HoldsForEverySeed) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    SetCluster cluster({.seed = seed, .nodes = 2});
    cluster.CreateSet(4, {}, {{"ready-delay", "1s"}});
    for (int i = 0; i < 100; ++i) {
      cluster.Advance(100ms);
      const std::string states = cluster.PodStates();
      // At most the last pod is not ready.
      const std::size_t waiting = states.find('n');
      EXPECT_TRUE(waiting == std::string::npos || waiting == states.size() - 1) << states;
    }
    cluster.Idle();
    EXPECT_EQ(cluster.PodStates(), "0 1 2 3");
  }
}

// Random changes of the spec, deletions of pods and crashes. In the end the set is as its spec demands, and
// its status is a recount.
class StatefulSetChaos : public testing::TestWithParam<const char*> {};

TEST_P(StatefulSetChaos, ReachesTheSpec) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    api::Prng random(seed);
    SetCluster cluster(
        {.seed = seed, .feature_gates = seed % 2 == 0 ? "MaxUnavailableStatefulSet=true" : "", .nodes = 2});
    Json spec = {{"podManagementPolicy", GetParam()}, {"minReadySeconds", seed % 3}};
    if (seed % 2 == 0) spec["updateStrategy"] = {{"rollingUpdate", {{"maxUnavailable", 2}}}};
    cluster.CreateSet(3, spec, {{"ready-delay", "1s"}, {"stop-after", "1s"}});
    int replicas = 3, start = 0, image = 1;
    for (int step = 0; step < 30; ++step) {
      cluster.Advance(std::chrono::milliseconds(random.Below(3000)));
      switch (random.Below(6)) {
        case 0: cluster.ScaleTo(replicas = static_cast<int>(random.Below(6))); break;
        case 1: cluster.SetImage("web:" + std::to_string(image = static_cast<int>(random.Below(4)))); break;
        case 2:
          start = static_cast<int>(random.Below(3));
          cluster.PatchSpec({{"ordinals", {{"start", start}}}});
          break;
        case 3:
          if (cluster.IsRunning("controller-manager"))
            cluster.CrashAtWrite("controller-manager", 1 + static_cast<int>(random.Below(4)));
          break;
        default:
          for (const testbed::PodView& pod : cluster.Pods("app=web")) {
            if (random.Below(3) != 0) continue;
            api::DeleteRequest options;
            if (random.Below(2) == 0) options.grace_period_seconds = 0;
            EXPECT_TRUE(cluster.Delete("pods", {"default", pod.name()}, options).ok());
          }
      }
      if (!cluster.IsRunning("controller-manager") && random.Below(2) == 0) {
        ASSERT_TRUE(cluster.Start("controller-manager").ok());
      }
    }
    cluster.Advance(1min);
    if (!cluster.IsRunning("controller-manager")) {
      ASSERT_TRUE(cluster.Start("controller-manager").ok());
    }
    cluster.Idle();
    std::string pods, images;
    for (int i = 0; i < replicas; ++i) {
      pods += (i > 0 ? " " : "") + std::to_string(start + i);
      images += (i > 0 ? " " : "") + std::to_string(image);
    }
    EXPECT_EQ(cluster.PodStates(), pods);
    EXPECT_EQ(cluster.Images(), images);
    for (const char* counter :
         {"replicas", "readyReplicas", "availableReplicas", "currentReplicas", "updatedReplicas"})
      EXPECT_EQ(cluster.Counter(counter), replicas) << counter;
    EXPECT_EQ(cluster.Status()["currentRevision"], cluster.Status()["updateRevision"]);
  }
}
INSTANTIATE_TEST_SUITE_P(Policies, StatefulSetChaos, testing::Values("OrderedReady", "Parallel"));

}  // namespace
}  // namespace terrarium::controllers_testing
