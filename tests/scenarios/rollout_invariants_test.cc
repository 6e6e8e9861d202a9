// Whatever users, pods and nodes do, and in whatever order the components run: no invariant is broken, and
// Deployments with working templates converge.

#include <cstdint>

#include <gtest/gtest.h>

#include "tests/scenarios/random_rollout.h"

namespace terrarium::scenarios {
namespace {

constexpr int kSteps = 10;

class RandomRollouts : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, RandomRollouts, testing::Range<std::uint64_t>(1, 61));

TEST_P(RandomRollouts, BreakNoInvariantAndEveryDeploymentConverges) {
  RandomRollout rollout(GetParam());
  rollout.Live(kSteps);
  ASSERT_EQ(rollout.broken(), "") << "seed " << GetParam() << "\n" << rollout.story();
  rollout.LeaveAlone();
  ASSERT_EQ(rollout.broken(), "") << "seed " << GetParam() << "\n" << rollout.story();
  EXPECT_EQ(rollout.Faults(), "") << "seed " << GetParam() << "\n" << rollout.story();
}

// The check itself: a Deployment that has not converged yet is reported.
TEST(RolloutInvariants, ADeploymentThatWasJustCreatedHasNotConverged) {
  RandomRollout rollout(1);
  EXPECT_NE(rollout.Faults(), "");
}

}  // namespace
}  // namespace terrarium::scenarios
