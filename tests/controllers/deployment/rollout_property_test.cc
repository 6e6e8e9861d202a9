// Properties of every rollout, over many thousand random ones. A failure prints its seed and its history.

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "api/base/prng.h"
#include "controllers/deployment/internal/proportional_scaling.h"
#include "tests/controllers/deployment/arithmetic_testing.h"
#include "tests/controllers/deployment/rollout_model.h"

namespace terrarium::controllers::deployment {
namespace {

constexpr int kSteps = 150;

// Checks the bounds at every step. Then, without further events, the rollout must end with one ReplicaSet
// that has all the pods. Returns the failure, or "".
std::string Run(std::uint64_t seed, const ModelOptions& options) {
  RolloutModel model(seed, options);
  for (int i = 0; i < kSteps && model.failure().empty(); ++i) model.Step();
  model.LeaveAlone();
  model.CheckSettled();
  return model.failure();
}

void RunMany(ModelOptions options, std::uint64_t rollouts) {
  for (std::uint64_t seed = 0; seed < rollouts; ++seed) {
    if (Run(seed, options).empty()) continue;
    options.keeps_history = true;
    FAIL() << "seed " << seed << "\n" << Run(seed, options);
  }
}

TEST(RolloutProperty, RollingUpdateKeepsItsBoundsAndConverges) { RunMany({}, 1500); }

TEST(RolloutProperty, RollingUpdateWithTerminationCompleteKeepsItsBoundsAndConverges) {
  RunMany({.waits_for_termination = true}, 1500);
}

TEST(RolloutProperty, RecreateConverges) { RunMany({.rolling = false}, 500); }

TEST(RolloutProperty, RecreateWithTerminationCompleteKeepsItsBoundsAndConverges) {
  RunMany({.rolling = false, .waits_for_termination = true}, 500);
}

TEST(RolloutProperty, APolicyThatComesAndGoesLeavesNothingBehind) { RunMany({.policy_changes = true}, 1000); }

// KEP-3973, e2e: never more pods than replicas + maxSurge at any point in time, when rolling out new
// revisions and/or scaling. Here the actual pods are counted, which the ReplicaSets' status lags behind.
// Cases that the Deployment cannot prevent are left out: evicted pods, which their ReplicaSet replaces
// immediately, and bounds that are lowered while pods are being created.
TEST(RolloutProperty, ThereAreNeverMorePodsThanAllowedWhenTerminationIsWaitedFor) {
  ModelOptions options{.waits_for_termination = true, .counts_real_pods = true};
  options.scales_down = false;
  options.pods_get_evicted = false;
  RunMany(options, 1500);
}

// The same with a ReplicaSet controller that sees its pods late, like that of Kubernetes. By the statuses
// alone the bound is broken in two ways, so the Deployment controller counts pods itself. maxSurge is 0 in
// both. deployment_races_test.cc plays one case of each.
//   1. a ReplicaSet of 3 is scaled to 5 and creates two pods       status: generation 2, 3 live
//   2. it is scaled to 3 before it has seen the two                status: generation 3, 3 live
//   3. the Deployment sees room for 2 and scales another one up    5 pods and 2
// and
//   1. a pod of a ReplicaSet of 5 fails
//   2. before it sees that, it is scaled to 3 and deletes two of the five that it knows
//   3. it sees the failure, then the first deletion                status: 3 live, 1 terminating
//   4. it is scaled to 4, since there are 4 and 5 are allowed
//   5. it sees the second deletion, has 2 live pods, creates two   4 live, 2 terminating
TEST(RolloutProperty, ThereAreNeverMorePodsThanAllowedThoughStatusesLag) {
  ModelOptions options{.waits_for_termination = true, .counts_real_pods = true};
  options.scales_down = false;
  options.pods_get_evicted = false;
  options.statuses_lag = true;
  RunMany(options, 1500);
}

struct RandomScale {
  std::vector<ReplicaSetSize> sets;
  DeploymentSize deployment;
};

// ReplicaSets that were scaled together, and a Deployment that has been scaled up since.
RandomScale DrawScale(api::Prng& random) {
  RandomScale scale;
  std::int64_t max_before = 0;
  const char last = static_cast<char>('a' + random.Below(5));
  for (char name = 'a'; name <= last; ++name) {
    scale.sets.push_back(Set(std::string(1, name), 1 + static_cast<std::int64_t>(random.Below(60))));
    max_before += scale.sets.back().replicas;
  }
  max_before += static_cast<std::int64_t>(random.Below(20));
  for (ReplicaSetSize& set : scale.sets) set = SizedFor(max_before, max_before, set);
  scale.deployment = Rolling(max_before + static_cast<std::int64_t>(random.Below(200)),
                             static_cast<std::int64_t>(random.Below(20)), 0);
  return scale;
}

bool NothingTerminates(const std::vector<ReplicaSetSize>& sets) {
  return std::all_of(sets.begin(), sets.end(),
                     [](const ReplicaSetSize& set) { return set.terminating == 0; });
}

std::int64_t Sum(const std::vector<ReplicaSetSize>& sets) {
  std::int64_t sum = 0;
  for (const ReplicaSetSize& set : sets) sum += set.replicas;
  return sum;
}

// However the terminating pods end, the ReplicaSets reach the proportions of Kubernetes, which does not wait
// for them.
TEST(PartialScalingProperty, EndsAtTheSizesOfAnImmediateScale) {
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    api::Prng random(seed);
    RandomScale scale = DrawScale(random);
    std::vector<std::int64_t> in_one_step = ScaledSizes(scale.deployment, scale.sets);
    DeploymentSize waiting = Waiting(scale.deployment);
    for (ReplicaSetSize& set : scale.sets) set.terminating = static_cast<std::int64_t>(random.Below(60));
    std::string history;
    for (bool room_for_all = false; !room_for_all;) {
      room_for_all = NothingTerminates(scale.sets);
      Apply(ScaleProportionally(waiting, scale.sets), scale.sets);
      for (ReplicaSetSize& set : scale.sets) {
        history += " " + std::to_string(set.replicas);
        set.terminating -= static_cast<std::int64_t>(random.Below(set.terminating + 1));
      }
      history += ",";
    }
    ASSERT_EQ(Sizes(scale.sets), in_one_step) << "seed " << seed << ":" << history;
    ASSERT_FALSE(IsScaling(waiting, scale.sets)) << "seed " << seed << ":" << history;
  }
}

// Scales on top of unfinished ones: never above the bound, and in the end exactly at it, without an
// annotation left.
TEST(PartialScalingProperty, ConsecutiveScalesEndWithTheRightSum) {
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    api::Prng random(seed);
    RandomScale scale = DrawScale(random);
    DeploymentSize waiting = Waiting(scale.deployment);
    std::int64_t& terminating = scale.sets.front().terminating;
    terminating = static_cast<std::int64_t>(random.Below(100));
    for (int step = 0; step < 12; ++step) {
      std::int64_t pods_before = Sum(scale.sets) + terminating;
      Apply(ScaleProportionally(waiting, scale.sets), scale.sets);
      ASSERT_LE(Sum(scale.sets) + terminating, std::max(pods_before, waiting.PodsMax())) << "seed " << seed;
      terminating -= static_cast<std::int64_t>(random.Below(terminating + 1));
      if (random.Below(3) == 0) waiting.replicas += static_cast<std::int64_t>(random.Below(50));
    }
    terminating = 0;
    Apply(ScaleProportionally(waiting, scale.sets), scale.sets);
    ASSERT_EQ(Sum(scale.sets), waiting.PodsMax()) << "seed " << seed;
    ASSERT_FALSE(IsScaling(waiting, scale.sets)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace terrarium::controllers::deployment
