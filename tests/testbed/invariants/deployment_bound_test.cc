#include "testbed/invariants/deployment_bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testbed/invariants/rule_stage.h"

namespace terrarium::testbed::invariants {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A Deployment "web" of 3 without surge, whose ReplicaSet "old" has its 3 pods.
class DeploymentBoundTest : public testing::Test {
 protected:
  DeploymentBoundTest() {
    stage.Put(TerminationCompleteDeployment("web", 3));
    stage.Put(ReplicaSetOf("web", "old", 3));
    for (const char* pod : {"old-1", "old-2", "old-3"}) stage.Put(LivePod(pod, "old"));
    EXPECT_THAT(stage.Take(), IsEmpty());
  }
  void Scale(const std::string& set, std::int64_t replicas) { stage.Put(ReplicaSetOf("web", set, replicas)); }

  RuleStage stage{[](Report report) { return MakeDeploymentBound(std::move(report)); }};
};

TEST_F(DeploymentBoundTest, AReplicaSetScaledBeyondTheLimitIsNamedWithTheRevisionAndTheCount) {
  Scale("new", 0);
  EXPECT_THAT(stage.Take(), IsEmpty());
  Scale("new", 1);
  EXPECT_THAT(stage.Take(), ElementsAre(AllOf(HasSubstr("at revision " + std::to_string(stage.revision)),
                                              HasSubstr("default/new"), HasSubstr("is scaled to 1"),
                                              HasSubstr("grows to 4 pods where 3 are allowed"),
                                              HasSubstr("old max(spec 3, live 3) + 0 terminating"),
                                              HasSubstr("new max(spec 1, live 0) + 0 terminating"))));
  const Violation& violation = stage.violations().front();
  EXPECT_EQ(violation.revision, stage.revision);
  EXPECT_EQ(violation.time, stage.now);
  EXPECT_EQ(violation.rule, "deployment-bound");
  EXPECT_THAT(violation.objects, ElementsAre(ObjectRef{"deployments", {"default", "web"}},
                                             ObjectRef{"replicasets", {"default", "new"}},
                                             ObjectRef{"replicasets", {"default", "old"}}));
}

TEST_F(DeploymentBoundTest, AReplicaSetCreatedBeyondTheLimitIsReported) {
  stage.Put(ReplicaSetOf("web", "new", 2));
  EXPECT_THAT(stage.Take(), ElementsAre(HasSubstr("is created with 2")));
}

TEST_F(DeploymentBoundTest, TerminatingPodsTakeUpRoomUntilTheyEndOrGo) {
  Scale("old", 1);
  stage.Put(TerminatingPod("old-1", "old"));
  stage.Put(TerminatingPod("old-2", "old"));
  Scale("new", 0);
  EXPECT_THAT(stage.Take(), IsEmpty());
  Scale("new", 1);
  EXPECT_THAT(stage.Take(), ElementsAre(HasSubstr("old max(spec 1, live 1) + 2 terminating")));
  Scale("new", 0);
  stage.Put(EndedPod("old-1", "old"));
  Scale("new", 1);
  EXPECT_THAT(stage.Take(), IsEmpty());
  stage.RemovePod("old-2");
  Scale("new", 2);
  EXPECT_THAT(stage.Take(), IsEmpty());
  Scale("new", 3);
  EXPECT_THAT(stage.Take(), SizeIs(1));
}

TEST_F(DeploymentBoundTest, LivePodsThatALoweredScaleHasNotRemovedYetTakeUpRoom) {
  Scale("old", 1);
  Scale("new", 0);
  Scale("new", 2);
  EXPECT_THAT(stage.Take(), ElementsAre(HasSubstr("old max(spec 1, live 3)")));
}

TEST_F(DeploymentBoundTest, PodsDeletedByAnotherClientDoNotCountWhileTheyTerminate) {
  stage.Put(TerminatingPod("old-1", "old"));
  stage.Put(LivePod("old-4", "old"));  // replaced immediately
  EXPECT_THAT(stage.Take(), IsEmpty());
  Scale("old", 2);
  stage.Put(TerminatingPod("old-2", "old"));
  stage.RemovePod("old-2");
  Scale("new", 1);
  EXPECT_THAT(stage.Take(), IsEmpty());
  Scale("new", 2);
  EXPECT_THAT(stage.Take(), ElementsAre(HasSubstr("(not counted: 1 deleted by others)")));
  Scale("new", 1);
  stage.Put(EndedPod("old-1", "old"));
  stage.RemovePod("old-1");
  Scale("new", 2);
  EXPECT_THAT(stage.Take(), ElementsAre(testing::Not(HasSubstr("not counted"))));
}

TEST_F(DeploymentBoundTest, BeingAboveALoweredLimitWithoutGrowingIsAllowed) {
  DeploymentFacts lowered = TerminationCompleteDeployment("web", 1);
  stage.Put(lowered);
  stage.Put(TerminatingPod("old-1", "old"));
  stage.Put(LivePod("old-4", "old"));
  Scale("old", 1);
  stage.Put(TerminatingPod("old-2", "old"));
  EXPECT_THAT(stage.Take(), IsEmpty());
  Scale("new", 0);
  Scale("new", 1);
  EXPECT_THAT(stage.Take(), ElementsAre(HasSubstr("where 1 are allowed")));
}

TEST_F(DeploymentBoundTest, SurgeWidensTheLimit) {
  DeploymentFacts wider = TerminationCompleteDeployment("web", 3);
  wider.surge = 2;
  stage.Put(wider);
  Scale("new", 0);
  Scale("new", 2);
  EXPECT_THAT(stage.Take(), IsEmpty());
  Scale("new", 3);
  EXPECT_THAT(stage.Take(), ElementsAre(HasSubstr("6 pods where 5 are allowed (replicas 3, surge 2)")));
}

TEST_F(DeploymentBoundTest, OtherPoliciesHaveNoLimit) {
  DeploymentFacts free = TerminationCompleteDeployment("web", 3);
  free.waits_for_termination = false;
  stage.Put(free);
  Scale("new", 30);
  EXPECT_THAT(stage.Take(), IsEmpty());
}

TEST_F(DeploymentBoundTest, ALoweredLimitHoldsOnceTheControllerHasSeenIt) {
  DeploymentFacts lowered = TerminationCompleteDeployment("web", 2);
  lowered.generation = 2;
  stage.Put(lowered);
  Scale("old", 2);
  stage.Put(TerminatingPod("old-1", "old"));
  stage.RemovePod("old-1");
  Scale("old", 3);  // the controller acts on a stale view
  EXPECT_THAT(stage.Take(), IsEmpty());
  lowered.observed_generation = 2;
  stage.Put(lowered);
  Scale("old", 2);
  Scale("old", 3);
  EXPECT_THAT(stage.Take(), ElementsAre(HasSubstr("where 2 are allowed")));
}

TEST_F(DeploymentBoundTest, APolicySwitchedOnHoldsOnceTheControllerHasSeenIt) {
  DeploymentFacts deployment = TerminationCompleteDeployment("web", 3);
  deployment.waits_for_termination = false;
  stage.Put(deployment);
  deployment.waits_for_termination = true;
  deployment.generation = 2;
  stage.Put(deployment);
  Scale("new", 0);
  Scale("new", 1);
  EXPECT_THAT(stage.Take(), IsEmpty());
  deployment.observed_generation = 2;
  stage.Put(deployment);
  Scale("new", 2);
  EXPECT_THAT(stage.Take(), SizeIs(1));
}

TEST_F(DeploymentBoundTest, APodThatItsReplicaSetDidNotWantIsReported) {
  stage.Put(LivePod("old-4", "old"));
  EXPECT_THAT(stage.Take(),
              ElementsAre(AllOf(HasSubstr("default/old creates pod old-4"), HasSubstr("live 4"))));
}

TEST_F(DeploymentBoundTest, AReplicaSetThatHasNotSeenItsNewScaleMayStillCreateForTheOldOne) {
  stage.RemovePod("old-3");
  ReplicaSetFacts lowered = ReplicaSetOf("web", "old", 2);
  lowered.generation = 2;
  stage.Put(lowered);
  Scale("new", 0);
  Scale("new", 1);
  stage.Put(LivePod("old-4", "old"));
  EXPECT_THAT(stage.Take(), IsEmpty());
  stage.Put(LivePod("old-5", "old"));
  EXPECT_THAT(stage.Take(), SizeIs(1));
}

TEST_F(DeploymentBoundTest, WritesOfOtherClientsAreNotReported) {
  stage.writer = "";
  Scale("old", 5);
  Scale("other", 4);
  stage.Put(LivePod("old-4", "old"));
  EXPECT_THAT(stage.Take(), IsEmpty());
}

TEST_F(DeploymentBoundTest, AdoptionIsNotGrowth) {
  stage.Adopt(LivePod("stray", "old"));
  stage.Adopt(ReplicaSetOf("web", "strays", 4));
  EXPECT_THAT(stage.Take(), IsEmpty());
  stage.RemoveReplicaSet("strays");
  stage.RemovePod("stray");
  Scale("new", 0);
  Scale("new", 1);
  EXPECT_THAT(stage.Take(), ElementsAre(HasSubstr("grows to 4")));
}

TEST_F(DeploymentBoundTest, AReplicaSetThatIsReleasedCountsNoMore) {
  stage.Put(ReplicaSetOf("", "old", 3));
  stage.Put(ReplicaSetOf("web", "new", 3));
  EXPECT_THAT(stage.Take(), IsEmpty());
}

TEST_F(DeploymentBoundTest, PodsThatTheirReplicaSetDoesNotSelectDoNotCount) {
  Scale("old", 2);
  PodFacts relabelled = TerminatingPod("old-1", "old");
  stage.Put(relabelled);
  relabelled.header = HeaderNamed("old-1", "other");
  stage.Put(relabelled);
  Scale("new", 1);
  EXPECT_THAT(stage.Take(), IsEmpty());
  Scale("new", 2);
  EXPECT_THAT(stage.Take(), ElementsAre(HasSubstr("old max(spec 2, live 2) + 0 terminating")));
}

TEST_F(DeploymentBoundTest, OnlyReplicaSetsOfTheSameDeploymentAreAddedUp) {
  stage.Put(TerminationCompleteDeployment("other", 3));
  stage.Put(ReplicaSetOf("other", "others", 3));
  EXPECT_THAT(stage.Take(), IsEmpty());
}

TEST_F(DeploymentBoundTest, ADeploymentCreatedAgainUnderItsNameStartsOver) {
  stage.RemoveDeployment("web");
  for (const char* pod : {"old-1", "old-2", "old-3"}) stage.Put(TerminatingPod(pod, "old"));
  stage.RemoveReplicaSet("old");
  for (const char* pod : {"old-1", "old-2", "old-3"}) stage.RemovePod(pod);
  stage.Put(TerminationCompleteDeployment("web", 2));
  stage.Put(ReplicaSetOf("web", "new", 2));
  EXPECT_THAT(stage.Take(), IsEmpty());
  Scale("new", 3);
  EXPECT_THAT(stage.Take(), SizeIs(1));
}

}  // namespace
}  // namespace terrarium::testbed::invariants
