#include "testbed/invariants/deployment_status.h"

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

RuleStage Stage(bool counts_terminating) {
  const TerminatingCounts terminating =
      counts_terminating ? TerminatingCounts::kReported : TerminatingCounts::kAbsent;
  return RuleStage([=](Report report) { return MakeDeploymentStatus(terminating, std::move(report)); });
}

// A Deployment "web" with the ReplicaSets "old" and "new", whose statuses are empty.
class DeploymentStatusTest : public testing::Test {
 protected:
  DeploymentStatusTest() {
    stage.Put(deployment);
    SetStatus("old", {.terminating = 0});
    SetStatus("new", {.terminating = 0});
  }

  void SetStatus(const std::string& name, ReportedCounts status, const std::string& owner = "web") {
    ReplicaSetFacts set = ReplicaSetOf(owner, name, 3);
    set.status = status;
    stage.Put(set);
  }
  std::vector<std::string> Write(ReportedCounts status) {
    deployment.status = status;
    stage.Put(deployment);
    return stage.Take();
  }

  RuleStage stage = Stage(true);
  DeploymentFacts deployment = TerminationCompleteDeployment("web", 3);
};

TEST_F(DeploymentStatusTest, SumsOfTheReplicaSetsPass) {
  SetStatus("old", {.replicas = 2, .ready = 2, .available = 1, .terminating = 1});
  SetStatus("new", {.replicas = 1, .ready = 1, .available = 1, .terminating = 0});
  EXPECT_THAT(Write({.replicas = 3, .updated = 1, .ready = 3, .available = 2, .terminating = 1}), IsEmpty());
}

TEST_F(DeploymentStatusTest, EachSumMayBeThatOfAnOlderRevision) {
  SetStatus("old", {.replicas = 2, .ready = 1, .terminating = 0});
  SetStatus("old", {.replicas = 3, .ready = 2, .terminating = 1});
  EXPECT_THAT(Write({.replicas = 2, .ready = 1, .terminating = 0}), IsEmpty());
  EXPECT_THAT(Write({.replicas = 3, .ready = 2, .terminating = 1}), IsEmpty());
  EXPECT_THAT(Write({.replicas = 2, .ready = 2, .terminating = 1}), SizeIs(1)) << "and does not go back";
}

TEST_F(DeploymentStatusTest, AnInventedNumberIsReportedWithRevisionAndSums) {
  SetStatus("old", {.replicas = 2, .terminating = 0});
  EXPECT_THAT(
      Write({.replicas = 2, .ready = 1, .terminating = 0}),
      ElementsAre(AllOf(HasSubstr("at revision 105 "), HasSubstr("default/web"),
                        HasSubstr("readyReplicas of its ReplicaSets have not been so since revision 101"),
                        HasSubstr("now they report replicas 2, readyReplicas 0"))));
  EXPECT_EQ(stage.violations().front().rule, "deployment-status");
}

TEST_F(DeploymentStatusTest, MoreUpdatedThanThereAreIsReported) {
  SetStatus("new", {.replicas = 1, .terminating = 0});
  EXPECT_THAT(Write({.replicas = 1, .updated = 2, .terminating = 0}), ElementsAre(HasSubstr("updated")));
}

TEST_F(DeploymentStatusTest, MoreAvailableThanReadyIsReported) {
  SetStatus("new", {.replicas = 1, .ready = 1, .available = 1, .terminating = 0});
  SetStatus("new", {.replicas = 1, .ready = 0, .available = 0, .terminating = 0});
  EXPECT_THAT(Write({.replicas = 1, .ready = 0, .available = 1, .terminating = 0}),
              ElementsAre(HasSubstr("available than ready")));
}

TEST_F(DeploymentStatusTest, ReplicaSetsOfOthersAndUnselectedOnesAreNotAddedUp) {
  SetStatus("others", {.replicas = 7, .terminating = 0}, "another");
  ReplicaSetFacts unselected = ReplicaSetOf("web", "unselected", 3);
  unselected.header = HeaderNamed("unselected", "other");
  unselected.status.replicas = 5;
  stage.Put(unselected);
  stage.Idle();
  EXPECT_THAT(stage.Take(), IsEmpty());
  EXPECT_THAT(Write({.replicas = 5, .terminating = 0}), SizeIs(1));
}

TEST_F(DeploymentStatusTest, TerminatingReplicasAreAbsentWhenASyncedReplicaSetDoesNotReportThem) {
  SetStatus("old", {.replicas = 1});
  EXPECT_THAT(Write({.replicas = 1}), IsEmpty());
  EXPECT_THAT(Write({.replicas = 1, .terminating = 0}), SizeIs(1));
}

TEST_F(DeploymentStatusTest, AReplicaSetThatWasNeverSyncedCountsAsNothing) {
  ReplicaSetFacts fresh = ReplicaSetOf("web", "fresh", 3);
  fresh.observed_generation = 0;
  fresh.status = {};
  stage.Put(fresh);
  stage.Idle();
  EXPECT_THAT(stage.Take(), IsEmpty());
}

TEST_F(DeploymentStatusTest, WithTheGateOffTerminatingReplicasAreAbsent) {
  RuleStage other = Stage(false);
  deployment.status = {};
  other.Put(deployment);
  other.Put(ReplicaSetOf("web", "old", 3));
  deployment.status.terminating = 0;
  other.Put(deployment);
  EXPECT_THAT(other.Take(), SizeIs(1));
}

TEST_F(DeploymentStatusTest, AReplicaSetThatLeavesTakesItsPodsAlong) {
  SetStatus("old", {.replicas = 2, .terminating = 0});
  EXPECT_THAT(Write({.replicas = 2, .terminating = 0}), IsEmpty());
  stage.RemoveReplicaSet("old");
  EXPECT_THAT(Write({.replicas = 0, .terminating = 0}), IsEmpty());
}

TEST_F(DeploymentStatusTest, AfterAnAdoptionViewsMayBeMixedUntilOneFits) {
  ReplicaSetFacts stray = ReplicaSetOf("web", "stray", 3);
  stray.status.replicas = 3;
  stage.Adopt(stray);
  EXPECT_THAT(Write({.replicas = 1, .terminating = 0}), IsEmpty());
  EXPECT_THAT(Write({.replicas = 3, .terminating = 0}), IsEmpty());
  EXPECT_THAT(Write({.replicas = 1, .terminating = 0}), SizeIs(1));
}

TEST_F(DeploymentStatusTest, AStatusWrittenByHandIsForTheControllerToPutRight) {
  stage.writer = "";
  EXPECT_THAT(Write({.replicas = 9, .terminating = 0}), IsEmpty());
  stage.Idle();
  EXPECT_THAT(stage.Take(), ElementsAre(HasSubstr("at rest its ReplicaSets report replicas 0")))
      << "it has not";
}

TEST_F(DeploymentStatusTest, WhenIdleTheStatusIsCurrent) {
  SetStatus("new", {.replicas = 1, .terminating = 0});
  stage.Idle();
  EXPECT_THAT(stage.Take(), SizeIs(1));
  EXPECT_THAT(Write({.replicas = 1, .terminating = 0}), IsEmpty());
  stage.Idle();
  EXPECT_THAT(stage.Take(), IsEmpty());
}

TEST_F(DeploymentStatusTest, WhenIdleADeletedDeploymentIsIgnored) {
  SetStatus("new", {.replicas = 1, .terminating = 0});
  stage.RemoveDeployment("web");
  stage.Idle();
  stage.RemoveReplicaSet("new");
  stage.RemoveReplicaSet("old");
  stage.Idle();
  EXPECT_THAT(stage.Take(), IsEmpty());
}

}  // namespace
}  // namespace terrarium::testbed::invariants
