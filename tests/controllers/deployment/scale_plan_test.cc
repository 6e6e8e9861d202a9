#include "controllers/deployment/internal/scale_plan.h"

#include <gtest/gtest.h>

#include "tests/controllers/deployment/arithmetic_testing.h"

namespace terrarium::controllers::deployment {
namespace {

// "index:replicas" of the plan.
std::string Plan(const DeploymentSize& deployment, const std::vector<ReplicaSetSize>& sets,
                 std::size_t new_index = kNotThereYet) {
  std::string text;
  for (const ScaledSet& set : PlanScale(deployment, sets, new_index))
    text += (text.empty() ? "" : " ") + std::to_string(set.index) + ":" + std::to_string(set.replicas);
  return text;
}

// Cases that crash the only known prototype of the policy.
TEST(PlanScale, WithoutReplicaSetsThereIsNothingToScale) {
  EXPECT_EQ(Plan(Rolling(5, 1, 0), {}), "");
  EXPECT_EQ(Plan(Waiting(Rolling(5, 1, 0)), {}), "");
  EXPECT_EQ(Plan(Waiting(Recreate(5)), {}), "");
}

TEST(PlanScale, WithoutASetOfTheTemplateTheOldOneIsScaled) {
  EXPECT_EQ(Plan(Rolling(5, 1, 0), {SizedFor(3, 4, Set("a", 3))}), "0:5");
  EXPECT_EQ(Plan(Waiting(Rolling(5, 1, 0)), {SizedFor(3, 4, Set("a", 3))}), "0:5");
  EXPECT_EQ(Plan(Waiting(Rolling(5, 1, 0)), {SizedFor(3, 4, Terminating(2, Set("a", 3)))}), "0:4");
}

TEST(PlanScale, TheOnlySetWithPodsTakesAll) {
  EXPECT_EQ(Plan(Rolling(10, 2, 0), {Set("a", 0), SizedFor(5, 7, Set("b", 5)), Set("c", 0)}, 2), "1:10");
  EXPECT_EQ(Plan(Rolling(2, 2, 0), {Set("a", 0), SizedFor(5, 7, Set("b", 5)), Set("c", 0)}, 2), "1:2");
  EXPECT_EQ(Plan(Recreate(10), {SizedFor(5, 5, Set("a", 5))}, 0), "0:10");
}

TEST(PlanScale, WithoutPodsTheSetOfTheTemplateGrowsOrElseTheNewest) {
  EXPECT_EQ(Plan(Rolling(4, 1, 0), {Set("a", 0), Set("b", 0), Set("c", 0)}, 1), "1:4");
  EXPECT_EQ(Plan(Rolling(4, 1, 0), {Set("a", 0), Set("b", 0), Set("c", 0)}), "2:4");
  EXPECT_EQ(Plan(Rolling(0, 1, 0), {Set("a", 0), Set("b", 0)}), "");
}

TEST(PlanScale, WhereTerminationIsWaitedForTheOnlySetGrowsNoFurtherThanThereIsRoom) {
  std::vector<ReplicaSetSize> sets = {Terminating(3, Set("a", 0)), SizedFor(5, 7, Set("b", 5))};
  EXPECT_EQ(Plan(Waiting(Rolling(10, 2, 0)), sets, 1), "1:9") << "9 + 3 terminating are 10 + 2";
  EXPECT_EQ(Plan(Waiting(Recreate(10)), sets, 1), "1:7") << "7 + 3 terminating are 10";
  sets[0].terminating = 50;
  EXPECT_EQ(Plan(Waiting(Rolling(10, 2, 0)), sets, 1), "1:5");
  EXPECT_EQ(Plan(Waiting(Rolling(2, 2, 0)), sets, 1), "1:2") << "scaling down is not held back";
}

TEST(PlanScale, ASetOfTheRightSizeIsLeftAlone) {
  EXPECT_EQ(Plan(Rolling(5, 1, 0), {SizedFor(5, 6, Set("a", 5))}, 0), "");
  EXPECT_EQ(Plan(Rolling(5, 3, 0), {SizedFor(5, 6, Set("a", 5))}, 0), "") << "another surge is not a scale";
}

TEST(PlanScale, AReplicaSetOfTheRightSizeGetsNewAnnotations) {
  std::vector<ReplicaSetSize> sets = {SizedFor(3, 4, Set("a", 5))};
  ASSERT_TRUE(MustScale(Rolling(5, 1, 0), sets));
  std::vector<ScaledSet> plan = PlanScale(Rolling(5, 1, 0), sets, 0);
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_EQ(plan[0].replicas, 5);
  EXPECT_EQ(plan[0].desired, 5);
  EXPECT_EQ(plan[0].max, 6);
}

TEST(PlanScale, BesideACompleteSetTheOthersGo) {
  std::vector<ReplicaSetSize> sets = {SizedFor(5, 6, Set("a", 2)), SizedFor(5, 6, Set("b", 5)),
                                      SizedFor(5, 6, Set("c", 0)), SizedFor(5, 6, Set("d", 1))};
  EXPECT_EQ(Plan(Rolling(5, 1, 0), sets, 1), "0:0 3:0");
  EXPECT_EQ(Plan(Waiting(Recreate(5)), sets, 1), "0:0 3:0");
  sets[1].available = 4;
  EXPECT_NE(Plan(Rolling(5, 1, 0), sets, 1), "0:0 3:0") << "not all of its pods are available";
}

TEST(PlanScale, SeveralSetsKeepTheirProportions) {
  std::vector<ReplicaSetSize> sets = {SizedFor(10, 12, Set("a", 8)), SizedFor(10, 12, Set("b", 4))};
  EXPECT_EQ(Plan(Rolling(20, 4, 0), sets, 1), "0:16 1:8");
}

// A change of the strategy in mid-rollout leaves these ReplicaSets behind. The rollout must continue.
TEST(MustScale, SeveralSetsUnderRecreateAreTheRolloutsBusiness) {
  std::vector<ReplicaSetSize> sets = {SizedFor(10, 12, Set("a", 8)), SizedFor(10, 12, Set("b", 4))};
  EXPECT_TRUE(MustScale(Rolling(20, 4, 0), sets));
  EXPECT_FALSE(MustScale(Recreate(20), sets));
  EXPECT_EQ(Plan(Recreate(20), sets, 1), "");
  sets.pop_back();
  EXPECT_TRUE(MustScale(Recreate(20), sets));
}

TEST(MustScale, AScaleThatIsNotCompleteGoesOn) {
  std::vector<ReplicaSetSize> sets = {SizedFor(20, 24, Set("a", 8)),
                                      ScaledFrom(4, 12, SizedFor(20, 12, Set("b", 5)))};
  EXPECT_TRUE(MustScale(Waiting(Rolling(20, 4, 0)), sets));
  sets[1].before_scale.reset();
  EXPECT_FALSE(MustScale(Waiting(Rolling(20, 4, 0)), sets));
}

}  // namespace
}  // namespace terrarium::controllers::deployment
