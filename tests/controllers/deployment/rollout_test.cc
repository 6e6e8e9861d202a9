#include "controllers/deployment/internal/rollout.h"

#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "tests/controllers/deployment/arithmetic_testing.h"

namespace terrarium::controllers::deployment {

void PrintTo(const Resize& resize, std::ostream* out) {
  *out << "#" << resize.index << " to " << resize.replicas;
}
bool operator==(const Resize& a, const Resize& b) { return a.index == b.index && a.replicas == b.replicas; }

namespace {

using api::Json;
using Resizes = std::vector<Resize>;

struct FencepostCase {
  Json surge;
  Json unavailable;
  std::int64_t replicas;
  std::int64_t resolved_surge;
  std::int64_t resolved_unavailable;
};

TEST(ResolveFenceposts, RoundsSurgeUpAndUnavailabilityDown) {
  const FencepostCase cases[] = {{"25%", "25%", 10, 3, 2},
                                 {"39%", "39%", 10, 4, 3},
                                 {"25%", "25%", 4, 1, 1},
                                 {"25%", "25%", 1, 1, 0},
                                 {"25%", "25%", 500, 125, 125},
                                 {"1%", "0%", 2, 1, 0},
                                 {"100%", "100%", 7, 7, 7},
                                 {"150%", 0, 3, 5, 0},
                                 {3, 2, 10, 3, 2},
                                 {5, "0%", 2, 5, 0},
                                 {2, 9, 5, 2, 9},
                                 {1, 0, 0, 1, 0},
                                 {"99999999999%", 0, 1000000, 2147483647, 0}};
  for (const FencepostCase& c : cases) {
    Fenceposts posts = ResolveFenceposts(&c.surge, &c.unavailable, c.replicas);
    EXPECT_EQ(posts.surge, c.resolved_surge) << c.surge << " of " << c.replicas;
    EXPECT_EQ(posts.unavailable, c.resolved_unavailable) << c.unavailable << " of " << c.replicas;
  }
}

TEST(ResolveFenceposts, OnePodMayBeUnavailableWhenBothComeToNothing) {
  const FencepostCase cases[] = {{"0%", "0%", 0, 0, 1},
                                 {"0%", "1%", 2, 0, 1},
                                 {0, "25%", 3, 0, 1},
                                 {0, 0, 10, 0, 1},
                                 {"25%", "25%", 0, 0, 1}};
  for (const FencepostCase& c : cases) {
    Fenceposts posts = ResolveFenceposts(&c.surge, &c.unavailable, c.replicas);
    EXPECT_EQ(posts.surge, 0) << c.surge << " of " << c.replicas;
    EXPECT_EQ(posts.unavailable, 1) << c.unavailable << " of " << c.replicas;
  }
}

TEST(ResolveFenceposts, WhatIsAbsentOrUnreadableCountsAsNothing) {
  Json percent = "39%";
  EXPECT_EQ(ResolveFenceposts(nullptr, nullptr, 10).unavailable, 1);
  EXPECT_EQ(ResolveFenceposts(nullptr, &percent, 10).surge, 0);
  EXPECT_EQ(ResolveFenceposts(&percent, nullptr, 10).unavailable, 0);
  for (const Json& bad :
       {Json("oops"), Json("%"), Json("5"), Json("5%%"), Json(""), Json(nullptr), Json(2.5)}) {
    EXPECT_EQ(ResolveFenceposts(&bad, &percent, 10).surge, 0) << bad;
    EXPECT_EQ(ResolveFenceposts(&bad, &percent, 10).unavailable, 3) << bad;
  }
}

TEST(NewReplicas, FirstReplicaSetStartsWithAllReplicas) {
  EXPECT_EQ(NewReplicas(Rolling(10, 3, 2), {}, kNotThereYet), 10);
  EXPECT_EQ(NewReplicas(Waiting(Rolling(10, 3, 2)), {}, kNotThereYet), 10);
  EXPECT_EQ(NewReplicas(Recreate(10), {}, kNotThereYet), 10);
  EXPECT_EQ(NewReplicas(Waiting(Recreate(10)), {}, kNotThereYet), 10);
}

TEST(NewReplicas, GrowsByTheSurgeBesideTheOld) {
  std::vector<ReplicaSetSize> sets{Set("a", 10)};
  EXPECT_EQ(NewReplicas(Rolling(10, 3, 2), sets, kNotThereYet), 3);
  sets = {Set("a", 8), Set("b", 3)};
  EXPECT_EQ(NewReplicas(Rolling(10, 3, 2), sets, 1), 5);
}

TEST(NewReplicas, StaysWhenThereAreTooManyPodsAlready) {
  std::vector<ReplicaSetSize> sets{Set("a", 20), Set("b", 3)};
  EXPECT_EQ(NewReplicas(Rolling(10, 3, 2), sets, 1), 3);
  EXPECT_EQ(NewReplicas(Waiting(Rolling(10, 3, 2)), sets, 1), 3);
  EXPECT_EQ(NewReplicas(Rolling(10, 3, 2), sets, kNotThereYet), 0);
}

TEST(NewReplicas, NeverExceedsTheDeployment) {
  std::vector<ReplicaSetSize> sets{Set("a", 5), Set("b", 2)};
  EXPECT_EQ(NewReplicas(Rolling(6, 10, 0), sets, 1), 6);
  EXPECT_EQ(NewReplicas(Waiting(Rolling(6, 10, 0)), sets, 1), 6);
}

TEST(NewReplicas, ShrinksToTheDeploymentImmediately) {
  std::vector<ReplicaSetSize> sets{Terminating(9, Set("a", 5)), ScaledTo(10, Set("b", 12))};
  for (const DeploymentSize& d :
       {Rolling(4, 1, 0), Waiting(Rolling(4, 1, 0)), Recreate(4), Waiting(Recreate(4))})
    EXPECT_EQ(NewReplicas(d, sets, 1), 4);
}

TEST(NewReplicas, RecreateTakesAllReplicasInOneStep) {
  std::vector<ReplicaSetSize> sets{Terminating(3, Set("a", 0)), Set("b", 1)};
  EXPECT_EQ(NewReplicas(Recreate(3), sets, 1), 3);
  EXPECT_EQ(NewReplicas(Recreate(3), sets, kNotThereYet), 3);
}

// KEP-3973, unit: the current behaviour remains unchanged when PodReplacementPolicy is nil.
TEST(NewReplicas, WithoutThePolicyTerminatingPodsTakeUpNoRoom) {
  std::vector<ReplicaSetSize> sets{Terminating(4, ScaledTo(6, Set("a", 10))), Terminating(2, Set("b", 4))};
  EXPECT_EQ(NewReplicas(Rolling(10, 3, 2), sets, 1), 7);
}

// KEP-3973, unit: new helper functions. RollingUpdate with TerminationComplete.
TEST(NewReplicas, TerminatingPodsOfAllReplicaSetsTakeUpRoom) {
  std::vector<ReplicaSetSize> sets{Terminating(2, Set("a", 0)), Terminating(1, Set("b", 5)),
                                   Terminating(1, Set("c", 2))};
  EXPECT_EQ(NewReplicas(Waiting(Rolling(10, 3, 2)), sets, 2), 4);
  sets[0].terminating = 0;
  EXPECT_EQ(NewReplicas(Waiting(Rolling(10, 3, 2)), sets, 2), 6);
  sets[2].terminating = 5;
  EXPECT_EQ(NewReplicas(Waiting(Rolling(10, 3, 2)), sets, 2), 2) << "never lowered for lack of room";
  EXPECT_EQ(NewReplicas(Waiting(Rolling(10, 3, 2)), sets, kNotThereYet), 0) << "a new one starts empty";
}

TEST(NewReplicas, PodsThatAShrunkReplicaSetStillHasTakeUpRoom) {
  std::vector<ReplicaSetSize> sets{ScaledTo(6, Set("a", 10)), Set("b", 2)};
  EXPECT_EQ(NewReplicas(Rolling(10, 3, 2), sets, 1), 7);
  EXPECT_EQ(NewReplicas(Waiting(Rolling(10, 3, 2)), sets, 1), 3);
}

TEST(NewReplicas, PodsThatAGrownReplicaSetHasNotCreatedYetTakeUpRoom) {
  std::vector<ReplicaSetSize> sets{ScaledTo(6, Set("a", 2)), ScaledTo(5, Set("b", 0))};
  EXPECT_EQ(NewReplicas(Waiting(Rolling(10, 3, 2)), sets, 1), 7);
}

TEST(NewReplicas, RecreateIsLimitedToTheReplicasWhenTerminationIsWaitedFor) {
  std::vector<ReplicaSetSize> sets{Terminating(4, Set("a", 0)), Set("b", 3)};
  EXPECT_EQ(NewReplicas(Waiting(Recreate(10)), sets, 1), 6);
  EXPECT_EQ(NewReplicas(Waiting(Recreate(10)), sets, kNotThereYet), 3);
}

// 10 pods, scaled to 5, then to 10 again with room for 12. The ReplicaSet may have deleted 5 in between. If
// it were scaled to 7 now, and then to 9 because its status still has 10, there would be 9 + 5 pods.
TEST(NewReplicas, AReplicaSetThatIsStillShrinkingDoesNotGrowWhenTerminationIsWaitedFor) {
  std::vector<ReplicaSetSize> sets{ScaledTo(5, Set("a", 10))};
  EXPECT_EQ(NewReplicas(Waiting(Rolling(10, 2, 0)), sets, 0), 5);
  EXPECT_EQ(NewReplicas(Rolling(10, 2, 0), sets, 0), 10);
  sets[0] = Terminating(5, Set("a", 5));
  EXPECT_EQ(NewReplicas(Waiting(Rolling(10, 2, 0)), sets, 0), 7);
}

// A roll-over right after the creation of "b": scaled to 3, then to 0, and its status reflects neither. The 3
// pods may exist.
TEST(NewReplicas, NothingGrowsOnAStatusThatIsNotCurrentWhenTerminationIsWaitedFor) {
  std::vector<ReplicaSetSize> sets{Set("a", 10), Set("b", 0), Set("c", 0)};
  sets[1].status_current = false;
  EXPECT_EQ(NewReplicas(Waiting(Rolling(10, 3, 0)), sets, 2), 0);
  EXPECT_EQ(NewReplicas(Rolling(10, 3, 0), sets, 2), 3);
  sets[1].status_current = true;
  EXPECT_EQ(NewReplicas(Waiting(Rolling(10, 3, 0)), sets, 2), 3);
}

TEST(RoomForPods, IsNeverNegative) {
  std::vector<ReplicaSetSize> sets{Terminating(9, Set("a", 9))};
  EXPECT_EQ(RoomForPods(Waiting(Rolling(10, 3, 0)), sets), 0);
  EXPECT_EQ(RoomForPods(Waiting(Rolling(20, 3, 0)), sets), 5);
  EXPECT_EQ(RoomForPods(Waiting(Rolling(10, 3, 0)), {}), 13);
}

TEST(ShrinkOld, AvailablePodsBeyondThePromisedOnesMayGo) {
  std::vector<ReplicaSetSize> sets{Set("a", 10), Set("b", 0)};
  EXPECT_EQ(ShrinkOld(Rolling(10, 0, 1), sets, 1), (Resizes{{0, 9}}));
  EXPECT_EQ(ShrinkOld(Rolling(10, 0, 2), sets, 1), (Resizes{{0, 8}}));
  sets = {Set("a", 8), Set("b", 5)};
  EXPECT_EQ(ShrinkOld(Rolling(10, 3, 2), sets, 1), (Resizes{{0, 3}}));
  EXPECT_EQ(ShrinkOld(Rolling(10, 3, 10), sets, 1), (Resizes{{0, 0}}));
}

TEST(ShrinkOld, UnhealthyReplicasGoFirst) {
  std::vector<ReplicaSetSize> sets{Available(8, Set("a", 10)), Set("b", 0)};
  EXPECT_EQ(ShrinkOld(Rolling(10, 0, 2), sets, 1), (Resizes{{0, 8}}));
  sets[0].available = 9;
  EXPECT_EQ(ShrinkOld(Rolling(10, 0, 2), sets, 1), (Resizes{{0, 8}})) << "one unhealthy, one available";
  sets[0].available = 1;
  EXPECT_EQ(ShrinkOld(Rolling(10, 0, 2), sets, 1), (Resizes{{0, 8}})) << "no more than may go at all";
}

TEST(ShrinkOld, UnhealthyReplicasGoFromAllSetsBeforeAvailableOnesGoFromTheOldest) {
  std::vector<ReplicaSetSize> sets{Set("a", 4), Available(1, Set("b", 3)), Set("c", 6)};
  EXPECT_EQ(ShrinkOld(Rolling(10, 3, 1), sets, 2), (Resizes{{0, 2}, {1, 1}}));
}

TEST(ShrinkOld, UnavailableNewPodsCostNoOldOnes) {
  std::vector<ReplicaSetSize> sets{Set("a", 8), Available(0, Set("b", 2))};
  EXPECT_EQ(ShrinkOld(Rolling(10, 0, 2), sets, 1), Resizes{});
  sets = {Available(7, Set("a", 8)), Available(0, Set("b", 5))};
  EXPECT_EQ(ShrinkOld(Rolling(10, 3, 2), sets, 1), Resizes{}) << "not even a broken one";
}

// The case in Kubernetes' own comment: a third template while the second one crashes.
TEST(ShrinkOld, ARollOverFreesWhatTheFailedTemplateTook) {
  std::vector<ReplicaSetSize> sets{Set("a", 8), Available(0, Set("b", 5)), Set("c", 0)};
  EXPECT_EQ(ShrinkOld(Rolling(10, 3, 2), sets, 2), (Resizes{{1, 0}}));
}

TEST(ShrinkOld, OldestGoesFirstAndNamesDecideBetweenEquals) {
  std::vector<ReplicaSetSize> sets{Set("c", 4), Set("a", 4), Set("b", 4), Set("d", 2)};
  EXPECT_EQ(ShrinkOld(Rolling(10, 4, 2), sets, 3), (Resizes{{1, 0}, {2, 2}}));
  for (ReplicaSetSize& set : sets) set.created = {};
  EXPECT_EQ(ShrinkOld(Rolling(10, 4, 2), sets, 3), (Resizes{{1, 0}, {2, 2}}));
}

TEST(ShrinkOld, NothingToShrinkIsNothingToDo) {
  EXPECT_EQ(ShrinkOld(Rolling(10, 3, 2), {}, kNotThereYet), Resizes{});
  std::vector<ReplicaSetSize> sets{Set("a", 0), Set("b", 20)};
  EXPECT_EQ(ShrinkOld(Rolling(10, 3, 2), sets, 1), Resizes{});
}

TEST(ShrinkOld, WorksWithoutAReplicaSetOfTheNewTemplate) {
  std::vector<ReplicaSetSize> sets{Set("a", 10)};
  EXPECT_EQ(ShrinkOld(Rolling(10, 0, 3), sets, kNotThereYet), (Resizes{{0, 7}}));
}

TEST(ShrinkOld, ADeploymentOfNoReplicasShrinksAll) {
  std::vector<ReplicaSetSize> sets{Available(1, Set("a", 3)), Set("b", 0)};
  EXPECT_EQ(ShrinkOld(Rolling(0, 1, 0), sets, 1), (Resizes{{0, 0}}));
}

TEST(ShrinkOld, WaitsForASetThatHasNotFollowedYet) {
  std::vector<ReplicaSetSize> sets{ScaledTo(8, Set("a", 10)), Set("b", 1)};
  EXPECT_EQ(ShrinkOld(Rolling(10, 1, 2), sets, 1), Resizes{});
  sets = {Available(0, Set("a", 2)), ScaledTo(8, Set("b", 10)), Set("c", 1)};
  EXPECT_EQ(ShrinkOld(Rolling(10, 1, 2), sets, 2), (Resizes{{0, 0}})) << "the older one is settled already";
}

// "b" is to lose two of its ten pods and has not yet. Only eight count as available, and eight are required.
TEST(ShrinkOld, PodsOnTheirWayOutAreNotAvailable) {
  std::vector<ReplicaSetSize> sets{Available(0, Set("a", 3)), ScaledTo(8, Set("b", 10)), Set("c", 0)};
  EXPECT_EQ(ShrinkOld(Rolling(10, 3, 2), sets, 2), (Resizes{{0, 0}}));
}

TEST(ShrinkOld, TerminatingPodsChangeNothing) {
  std::vector<ReplicaSetSize> sets{Terminating(7, Set("a", 8)), Terminating(7, Set("b", 5))};
  EXPECT_EQ(ShrinkOld(Waiting(Rolling(10, 3, 2)), sets, 1), (Resizes{{0, 3}}));
}

}  // namespace
}  // namespace terrarium::controllers::deployment
