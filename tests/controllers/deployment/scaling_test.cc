#include <string>

#include <gtest/gtest.h>

#include "controllers/deployment/internal/proportional_scaling.h"
#include "tests/controllers/deployment/arithmetic_testing.h"

namespace terrarium::controllers::deployment {
namespace {

using Row = std::vector<std::int64_t>;

struct ScaleCase {
  const char* name;
  std::int64_t replicas;
  std::int64_t max_surge;
  std::int64_t max_before;
  Row sizes;  // oldest first
  Row scaled;
};

// The sizes that Kubernetes' own tests of scale() expect.
const ScaleCase kKubernetesCases[] = {
    {"5 to 10", 10, 0, 5, {3, 2}, {6, 4}},
    {"5 to 3", 3, 0, 5, {3, 2}, {2, 1}},
    {"9 to 4", 4, 0, 9, {1, 8}, {0, 4}},
    {"7 to 10", 10, 0, 7, {2, 3, 2}, {3, 4, 3}},
    {"13 to 8", 8, 0, 13, {3, 8, 2}, {2, 5, 1}},
    {"what is left over goes to the newest of equals", 4, 0, 3, {1, 1, 1}, {1, 1, 2}},
    {"and comes from the oldest of equals", 2, 0, 3, {1, 1, 1}, {0, 1, 1}},
    {"no set of the new template: 4 to 5", 5, 0, 4, {2, 2}, {2, 3}},
    {"6 to 0", 0, 0, 6, {1, 2, 3}, {0, 0, 0}},
    {"sets without replicas do not take part", 6, 0, 6, {0, 0, 0}, {0, 0, 0}},
    {"with surge pods", 20, 2, 12, {6, 6}, {11, 11}},
    {"surge and size change", 50, 6, 13, {8, 5}, {34, 22}},
    {"size and template change", 14, 0, 10, {3, 7}, {4, 10}},
    {"to nothing, with surge", 0, 2, 12, {6, 6}, {0, 0}},
    {"nothing to add", 10, 2, 12, {7, 5}, {7, 5}},
};

std::vector<ReplicaSetSize> SetsOf(const ScaleCase& c) {
  std::vector<ReplicaSetSize> sets;
  for (std::size_t i = 0; i < c.sizes.size(); ++i)
    sets.push_back(SizedFor(0, c.max_before, Set(std::string(1, static_cast<char>('a' + i)), c.sizes[i])));
  return sets;
}

// Between a limit of 110 pods and one of 130: 50, 30 and 20 became 59, 35 and 21, and the second is complete.
std::vector<ReplicaSetSize> InMidScale() {
  return {ScaledFrom(50, 110, SizedFor(120, 110, Set("a", 59))), SizedFor(120, 130, Set("b", 35)),
          ScaledFrom(20, 110, SizedFor(120, 110, Set("c", 21))), Terminating(15, Set("d", 0))};
}

TEST(ScaleProportionally, GivesTheSizesOfKubernetes) {
  for (const ScaleCase& c : kKubernetesCases)
    EXPECT_EQ(ScaledSizes(Rolling(c.replicas, c.max_surge, 0), SetsOf(c)), c.scaled) << c.name;
}

// KEP-3973, unit: the relevant tests hold for every PodReplacementPolicy.
TEST(ScaleProportionally, GivesTheSameSizesWhenTerminationIsWaitedForAndNothingTerminates) {
  for (const ScaleCase& c : kKubernetesCases)
    EXPECT_EQ(ScaledSizes(Waiting(Rolling(c.replicas, c.max_surge, 0)), SetsOf(c)), c.scaled) << c.name;
}

TEST(ScaleProportionally, AnswersForActiveSetsOnlyLargestFirst) {
  std::vector<ReplicaSetSize> sets{Set("a", 2), Set("b", 0), Set("c", 5), Set("d", 5)};
  std::vector<ScaledSet> scaled = ScaleProportionally(Rolling(24, 0, 0), sets);
  ASSERT_EQ(scaled.size(), 3u);
  EXPECT_EQ(scaled[0].index, 3u);
  EXPECT_EQ(scaled[1].index, 2u);
  EXPECT_EQ(scaled[2].index, 0u);
}

TEST(ScaleProportionally, WritesWhatTheSetsWereSizedFor) {
  std::vector<ReplicaSetSize> sets{SizedFor(10, 12, Set("a", 6)), SizedFor(10, 12, Set("b", 6))};
  for (const DeploymentSize& deployment :
       {Rolling(20, 2, 0), Rolling(10, 2, 0), Rolling(5, 2, 0), Rolling(0, 2, 0)}) {
    for (const ScaledSet& set : ScaleProportionally(deployment, sets)) {
      EXPECT_EQ(set.desired, deployment.replicas);
      EXPECT_EQ(set.max, deployment.replicas + 2);
      EXPECT_EQ(set.before_scale, std::nullopt);
    }
  }
}

TEST(ScaleProportionally, RoundsHalvesUp) {
  // 5 * 15/10 = 7.5 and 3 * 15/10 = 4.5; the remaining 2 go to the largest.
  EXPECT_EQ(ScaledSizes(Rolling(15, 0, 0), {SizedFor(10, 10, Set("a", 5)), SizedFor(10, 10, Set("b", 3))}),
            (Row{10, 5}));
}

TEST(ScaleProportionally, WithoutMaxAnnotationCountsFromThePodsThereAre) {
  DeploymentSize deployment = Rolling(120, 0, 0);
  deployment.status_replicas = 100;
  std::vector<ReplicaSetSize> sets{Set("a", 50), Set("b", 40), Set("c", 10)};
  EXPECT_EQ(ScaledSizes(deployment, sets), (Row{60, 48, 12}));
  for (ReplicaSetSize& set : sets) set.max = 0;
  EXPECT_EQ(ScaledSizes(deployment, sets), (Row{60, 48, 12})) << "0 is not an annotation";
  EXPECT_EQ(ScaledSizes(Waiting(deployment), sets), (Row{60, 48, 12}));
}

TEST(ScaleProportionally, WithoutAnnotationAndPodsTheLargestTakesAll) {
  DeploymentSize deployment = Rolling(12, 0, 0);
  deployment.status_replicas = 0;
  EXPECT_EQ(ScaledSizes(deployment, {Set("a", 5), Set("b", 4)}), (Row{8, 4}));
  EXPECT_EQ(ScaledSizes(Waiting(deployment), {Set("a", 5), Set("b", 4)}), (Row{8, 4}));
  deployment.replicas = 7;
  EXPECT_EQ(ScaledSizes(deployment, {Set("a", 5), Set("b", 4)}), (Row{3, 4}));
  deployment.replicas = 2;
  EXPECT_EQ(ScaledSizes(deployment, {Set("a", 5), Set("b", 4)}), (Row{0, 4})) << "but never below nothing";
}

TEST(ScaleProportionally, NoSetsAtAllIsNothingToDo) {
  for (const DeploymentSize& deployment :
       {Rolling(3, 1, 0), Waiting(Rolling(3, 1, 0)), Waiting(Rolling(0, 0, 0))}) {
    EXPECT_TRUE(ScaleProportionally(deployment, {}).empty());
    EXPECT_FALSE(IsScaling(deployment, {}));
    std::vector<ReplicaSetSize> sets{Terminating(3, Set("a", 0)), SizedFor(9, 9, Set("b", 0))};
    EXPECT_TRUE(ScaleProportionally(deployment, sets).empty());
    EXPECT_FALSE(IsScaling(deployment, sets));
  }
}

TEST(ScaleProportionally, WhateverTerminatesOrIsOnItsWayTakesUpRoomWhenTerminationIsWaitedFor) {
  DeploymentSize deployment = Waiting(Rolling(20, 0, 0));
  ReplicaSetSize a = SizedFor(10, 10, Set("a", 5));
  ReplicaSetSize b = SizedFor(10, 10, Set("b", 5));
  EXPECT_EQ(ScaledSizes(deployment, {a, b}), (Row{10, 10}));
  EXPECT_EQ(ScaledSizes(deployment, {Terminating(3, a), Terminating(2, b)}), (Row{5, 10}))
      << "newest of equals first";
  EXPECT_EQ(ScaledSizes(deployment, {a, b, Terminating(8, Set("c", 0))}), (Row{5, 7, 0}));
  EXPECT_EQ(ScaledSizes(deployment, {a, b, ScaledTo(0, Set("c", 8))}), (Row{5, 7, 0})) << "not deleted yet";
  EXPECT_EQ(ScaledSizes(deployment, {ScaledTo(5, SizedFor(10, 10, Set("a", 2))), b}), (Row{10, 10}))
      << "not created yet";
  EXPECT_EQ(ScaledSizes(deployment, {Terminating(30, a), b}), (Row{5, 5}))
      << "no ReplicaSet is lowered for lack of room";
}

TEST(ScaleProportionally, ASetWithoutRoomRemembersWhereItBegan) {
  std::vector<ReplicaSetSize> sets{SizedFor(10, 12, Terminating(12, Set("a", 8))),
                                   SizedFor(10, 12, Set("b", 4))};
  std::vector<ScaledSet> scaled = ScaleProportionally(Waiting(Rolling(20, 4, 0)), sets);
  ASSERT_EQ(scaled.size(), 2u);
  for (const ScaledSet& set : scaled) {
    EXPECT_EQ(set.before_scale, sets[set.index].replicas);
    EXPECT_EQ(set.replicas, sets[set.index].replicas);
    EXPECT_EQ(set.max, 12);
    EXPECT_EQ(set.desired, 10);
  }
}

// A released controller that takes over knows desired-replicas and max-replicas, but not the sizes at the
// beginning of the scale. e2e/differential/takeover.py plays the same with the real one.
TEST(ScaleProportionally, AControllerWithoutTheBeginningFinishesAPartialScale) {
  const DeploymentSize released = Rolling(19, 3, 2);
  std::vector<ReplicaSetSize> sets{SizedFor(10, 13, Terminating(2, Set("a", 8))),
                                   SizedFor(10, 13, Set("b", 3))};
  Apply(ScaleProportionally(Waiting(released), sets), sets);
  EXPECT_EQ(Sizes(sets), (Row{15, 5}));
  for (ReplicaSetSize& set : sets) set.before_scale.reset();
  EXPECT_TRUE(IsScaling(released, sets));
  Apply(ScaleProportionally(released, sets), sets);
  EXPECT_EQ(Sizes(sets), (Row{17, 5})) << "all there may be, in proportion to the sizes it finds";
  EXPECT_FALSE(IsScaling(released, sets));
}

TEST(ScaleProportionally, WithoutMaxAnnotationAPartialScaleRemembersWhatItCountedFrom) {
  DeploymentSize deployment = Waiting(Rolling(120, 0, 0));
  deployment.status_replicas = 100;
  std::vector<ReplicaSetSize> sets{Terminating(20, Set("a", 60)), Set("b", 40)};
  std::vector<ScaledSet> scaled = ScaleProportionally(deployment, sets);
  EXPECT_EQ(scaled[0].before_scale, 60);
  EXPECT_EQ(scaled[0].max, 100);
  Apply(scaled, sets);
  sets[0].terminating = 0;
  deployment.status_replicas = 107;  // no longer used
  EXPECT_EQ(ScaledSizes(deployment, sets), (Row{72, 48}));
}

TEST(ScaleProportionally, AnOriginWithoutItsMaxIsIgnored) {
  DeploymentSize deployment = Rolling(120, 0, 0);
  deployment.status_replicas = 100;
  ReplicaSetSize a = Set("a", 60);
  a.before_scale = 7;
  EXPECT_EQ(ScaledSizes(deployment, {a, Set("b", 40)}), (Row{72, 48}));
  a.max = 0;
  EXPECT_EQ(ScaledSizes(Waiting(deployment), {a, Set("b", 40)}), (Row{72, 48}));
}

TEST(ScaleProportionally, RemovingThePolicyInMidScaleCompletesTheScaleImmediately) {
  std::vector<ReplicaSetSize> sets = InMidScale();
  EXPECT_TRUE(IsScaling(Rolling(120, 10, 0), sets));
  std::vector<ScaledSet> scaled = ScaleProportionally(Rolling(120, 10, 0), sets);
  for (const ScaledSet& set : scaled) EXPECT_EQ(set.before_scale, std::nullopt);
  Apply(scaled, sets);
  EXPECT_EQ(Sizes(sets), (Row{71, 35, 24, 0}));
  EXPECT_FALSE(IsScaling(Rolling(120, 10, 0), sets));
}

// Back to 110 in mid-scale: 115 pods are 5 too many. The first ReplicaSet's share of the 115 is 56. The
// second is complete: its share is 5 of its 35, and it has only 2 left to give. Counted from its own
// beginning, the first alone would have to give all 5. So proportions count from the beginning of the
// unfinished scale, which the controller's own writes do not change: if it is stopped between two of them,
// the result is the same.
TEST(ScaleProportionally, ScalingDownEndsAnUnfinishedScaleAndCountsFromItsBeginning) {
  for (bool waits : {true, false}) {
    DeploymentSize deployment = Rolling(100, 10, 0);
    deployment.waits_for_termination = waits;
    std::vector<ReplicaSetSize> sets = InMidScale();
    std::vector<ScaledSet> scaled = ScaleProportionally(deployment, sets);
    for (const ScaledSet& set : scaled) {
      EXPECT_EQ(set.before_scale, std::nullopt);
      EXPECT_EQ(set.max, 110);
    }
    Apply(scaled, sets);
    EXPECT_EQ(Sizes(sets), (Row{54, 35, 21, 0}));
    EXPECT_FALSE(IsScaling(deployment, sets));
  }
}

TEST(ScaleProportionally, ScalingDownIsNotHeldBack) {
  std::vector<ReplicaSetSize> sets{SizedFor(100, 100, Terminating(70, Set("a", 60))),
                                   SizedFor(100, 100, Set("b", 40))};
  EXPECT_EQ(ScaledSizes(Waiting(Rolling(50, 0, 0)), sets), (Row{30, 20}));
  EXPECT_EQ(ScaledSizes(Waiting(Rolling(0, 5, 0)), sets), (Row{0, 0}));
}

// Less than the target of the unfinished scale, but more than the current sizes: 59, 35 and 21 are 115, and
// 116 are allowed.
TEST(ScaleProportionally, ReducingAnUnfinishedScaleUpShrinksNoReplicaSet) {
  std::vector<ReplicaSetSize> sets = InMidScale();
  EXPECT_EQ(ScaledSizes(Waiting(Rolling(106, 10, 0)), sets), (Row{59, 35, 21, 0}));
  sets[3].terminating = 0;
  EXPECT_EQ(ScaledSizes(Waiting(Rolling(106, 10, 0)), sets), (Row{60, 35, 21, 0}));
}

// The ratio is below 1 although pods are added, since the surge was reduced. Kubernetes shrinks both and
// gives the remainder to the largest; the deleted pods would terminate while new ones start.
TEST(ScaleProportionally, NoReplicaSetShrinksForAnotherToGrowWhenTerminationIsWaitedFor) {
  std::vector<ReplicaSetSize> sets{SizedFor(10, 20, Set("a", 8)), SizedFor(10, 20, Set("b", 2))};
  EXPECT_EQ(ScaledSizes(Rolling(12, 0, 0), sets), (Row{11, 1}));
  EXPECT_EQ(ScaledSizes(Waiting(Rolling(12, 0, 0)), sets), (Row{10, 2}));
}

TEST(ScaleProportionally, NoReplicaSetGrowsForAnotherToShrinkWhenTerminationIsWaitedFor) {
  std::vector<ReplicaSetSize> sets{SizedFor(10, 10, Set("a", 20)), SizedFor(10, 10, Set("b", 4))};
  EXPECT_EQ(ScaledSizes(Rolling(20, 0, 0), sets), (Row{12, 8}));
  EXPECT_EQ(ScaledSizes(Waiting(Rolling(20, 0, 0)), sets), (Row{16, 4}));
}

TEST(ScaleProportionally, ASetThatIsStillShrinkingDoesNotGrowWhenTerminationIsWaitedFor) {
  std::vector<ReplicaSetSize> sets{SizedFor(10, 10, ScaledTo(6, Set("a", 8))), SizedFor(10, 10, Set("b", 4))};
  EXPECT_EQ(ScaledSizes(Waiting(Rolling(20, 0, 0)), sets), (Row{6, 8}));
  EXPECT_EQ(ScaledSizes(Rolling(20, 0, 0), sets), (Row{12, 8}));
}

TEST(ScaleProportionally, NothingGrowsOnAStatusThatIsNotCurrentWhenTerminationIsWaitedFor) {
  std::vector<ReplicaSetSize> sets{SizedFor(10, 10, Set("a", 6)), SizedFor(10, 10, Set("b", 4)), Set("c", 0)};
  sets[2].status_current = false;
  EXPECT_EQ(ScaledSizes(Waiting(Rolling(20, 0, 0)), sets), (Row{6, 4, 0}));
  EXPECT_EQ(ScaledSizes(Waiting(Rolling(5, 0, 0)), sets), (Row{3, 2, 0})) << "scaling down is not held back";
  EXPECT_EQ(ScaledSizes(Rolling(20, 0, 0), sets), (Row{12, 8, 0}));
}

TEST(ScaleProportionally, LargeNumbersDoNotOverflow) {
  const std::int64_t most = 2147483647;
  std::vector<ReplicaSetSize> sets{SizedFor(most, most, Set("a", most - 1)),
                                   SizedFor(most, most, Set("b", 1))};
  EXPECT_EQ(ScaledSizes(Rolling(most, most, 0), sets), (Row{2 * most - 2, 2}));
}

TEST(IsScaling, AnActiveSetSizedForAnotherNumberOfReplicas) {
  std::vector<ReplicaSetSize> sets{SizedFor(5, 6, Set("a", 3)), SizedFor(5, 6, Set("b", 3))};
  EXPECT_FALSE(IsScaling(Rolling(5, 1, 0), sets));
  EXPECT_TRUE(IsScaling(Rolling(6, 1, 0), sets));
  EXPECT_FALSE(IsScaling(Rolling(5, 2, 0), sets)) << "surge alone scales nothing";
  EXPECT_TRUE(IsScaling(Rolling(0, 1, 0), sets));
  sets = {SizedFor(5, 6, Set("a", 0)), SizedFor(6, 7, Set("b", 3)), Set("c", 3)};
  EXPECT_FALSE(IsScaling(Rolling(6, 1, 0), sets)) << "neither empty sets nor those without annotations";
}

TEST(IsScaling, AnActiveSetWhoseScaleIsNotComplete) {
  std::vector<ReplicaSetSize> sets{SizedFor(5, 6, Set("a", 3)),
                                   SizedFor(5, 4, ScaledFrom(2, 4, Set("b", 3)))};
  EXPECT_TRUE(IsScaling(Waiting(Rolling(5, 1, 0)), sets));
  EXPECT_TRUE(IsScaling(Rolling(5, 1, 0), sets)) << "the annotation is to go without the policy as well";
  sets[1].replicas = 0;
  EXPECT_FALSE(IsScaling(Waiting(Rolling(5, 1, 0)), sets));
}

}  // namespace
}  // namespace terrarium::controllers::deployment
