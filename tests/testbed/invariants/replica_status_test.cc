#include "testbed/invariants/replica_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testbed/invariants/rule_stage.h"

namespace terrarium::testbed::invariants {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

RuleStage Stage(ReplicaStatusOptions options) {
  return RuleStage([options](Report report) { return MakeReplicaStatus(options, std::move(report)); });
}

// A ReplicaSet "web" without pods.
class ReplicaStatusTest : public testing::Test {
 protected:
  ReplicaStatusTest() { stage.Put(set); }

  // The controller writes a status.
  std::vector<std::string> Write(ReportedCounts status) {
    set.status = status;
    stage.Put(set);
    return stage.Take();
  }

  RuleStage stage = Stage({.resources = {"replicasets"}, .terminating = TerminatingCounts::kReported});
  ReplicaSetFacts set = ReplicaSetOf("", "web", 3);
};

TEST_F(ReplicaStatusTest, ARecountOfThePresentPasses) {
  stage.Put(LivePod("a", "web"));
  stage.Put(ReadyPod("b", "web"));
  stage.Put(TerminatingPod("c", "web"));
  stage.Put(EndedPod("d", "web"));
  EXPECT_THAT(Write({.replicas = 2, .fully_labeled = 2, .ready = 1, .available = 1, .terminating = 1}),
              IsEmpty());
}

TEST_F(ReplicaStatusTest, AnOldViewPasses) {
  stage.Put(LivePod("a", "web"));
  stage.Put(LivePod("b", "web"));
  stage.Put(ReadyPod("a", "web"));
  stage.Put(TerminatingPod("a", "web"));
  EXPECT_THAT(Write({.replicas = 2, .fully_labeled = 2, .terminating = 0}), IsEmpty());
  EXPECT_THAT(Write({.replicas = 2, .fully_labeled = 2, .ready = 1, .terminating = 0}), IsEmpty());
}

TEST_F(ReplicaStatusTest, AnInventedNumberIsReportedWithRevisionAndCounts) {
  stage.Put(LivePod("a", "web"));
  EXPECT_THAT(
      Write({.replicas = 2, .fully_labeled = 1, .terminating = 0}),
      ElementsAre(AllOf(
          HasSubstr("at revision 103 "), HasSubstr("default/web"),
          HasSubstr("reports replicas 2, fullyLabeledReplicas 1, readyReplicas 0, terminatingReplicas 0"),
          HasSubstr("not been so since revision 101"),
          HasSubstr("now they are replicas 1, fullyLabeledReplicas 1"))));
  EXPECT_EQ(stage.violations().front().rule, "replica-status");
  EXPECT_EQ(stage.violations().front().objects.front(), (ObjectRef{"replicasets", {"default", "web"}}));
}

TEST_F(ReplicaStatusTest, NumbersThatWereTrueButNeverTogetherAreReported) {
  stage.Put(ReadyPod("a", "web"));
  stage.Put(LivePod("a", "web"));
  stage.Put(LivePod("b", "web"));
  EXPECT_THAT(Write({.replicas = 2, .fully_labeled = 2, .ready = 1, .terminating = 0}), SizeIs(1));
}

TEST_F(ReplicaStatusTest, AViewThatGoesBackIsReported) {
  stage.Put(LivePod("a", "web"));
  stage.Put(LivePod("b", "web"));
  EXPECT_THAT(Write({.replicas = 2, .fully_labeled = 2, .terminating = 0}), IsEmpty());
  EXPECT_THAT(Write({.replicas = 1, .fully_labeled = 1, .terminating = 0}), SizeIs(1));
}

TEST_F(ReplicaStatusTest, MoreAvailableThanReadyIsReported) {
  stage.Put(LivePod("a", "web"));
  EXPECT_THAT(Write({.replicas = 1, .fully_labeled = 1, .available = 1, .terminating = 0}),
              ElementsAre(HasSubstr("no more can be available than ready")));
}

TEST_F(ReplicaStatusTest, UnselectedPodsAndPodsOfOtherOwnersDoNotCount) {
  PodFacts relabelled = LivePod("a", "web");
  relabelled.header = HeaderNamed("a", "other");
  stage.Put(relabelled);
  stage.Put(LivePod("b", "another"));
  EXPECT_THAT(Write({.replicas = 1, .fully_labeled = 1, .terminating = 0}), SizeIs(1));
}

TEST_F(ReplicaStatusTest, FullyLabelledIsWhatHasTheLabelsOfTheTemplate) {
  set.template_labels = Labels("app=web,tier=front");
  set.status.replicas = 1;
  RuleStage other = Stage({.resources = {"replicasets"}, .terminating = TerminatingCounts::kReported});
  other.Put(set);
  other.Put(LivePod("a", "web"));
  other.Put(LivePod("b", "web"));
  set.status.replicas = 2;
  other.Put(set);
  EXPECT_THAT(other.Take(), IsEmpty());
  set.status.fully_labeled = 2;
  other.Put(set);
  EXPECT_THAT(other.Take(), SizeIs(1));
}

TEST_F(ReplicaStatusTest, TerminatingPodsMustBeReportedWhenTheGateIsOn) {
  stage.Put(LivePod("a", "web"));
  EXPECT_THAT(Write({.replicas = 1, .fully_labeled = 1}),
              ElementsAre(HasSubstr("terminatingReplicas absent")));
}

TEST_F(ReplicaStatusTest, TerminatingPodsMustNotBeReportedWhenTheGateIsOff) {
  RuleStage other = Stage({.resources = {"replicasets"}, .terminating = TerminatingCounts::kAbsent});
  other.Put(set);
  other.Put(TerminatingPod("a", "web"));
  set.status = {.terminating = 1};
  other.Put(set);
  EXPECT_THAT(other.Take(), SizeIs(1));
  set.status = {};
  other.Put(set);
  EXPECT_THAT(other.Take(), IsEmpty());
}

TEST_F(ReplicaStatusTest, AReplicationControllerNeverReportsTerminatingPods) {
  RuleStage other =
      Stage({.resources = {"replicationcontrollers"}, .terminating = TerminatingCounts::kReported});
  set.resource = "replicationcontrollers";
  set.status = {};
  other.Put(set);
  other.Put(TerminatingPod("a", "web"));
  other.Put(LivePod("b", "web"));
  set.status = {.replicas = 1, .fully_labeled = 1};
  other.Put(set);
  EXPECT_THAT(other.Take(), IsEmpty());
  set.status.terminating = 1;
  other.Put(set);
  EXPECT_THAT(other.Take(), SizeIs(1));
}

TEST_F(ReplicaStatusTest, WithoutItsControllerAStatusIsNotChecked) {
  RuleStage other =
      Stage({.resources = {"replicationcontrollers"}, .terminating = TerminatingCounts::kReported});
  other.Put(set);
  set.status.replicas = 9;
  other.Put(set);
  other.Idle();
  EXPECT_THAT(other.Take(), IsEmpty());
}

TEST_F(ReplicaStatusTest, AStatusWrittenByHandIsForTheControllerToPutRight) {
  stage.writer = "";
  EXPECT_THAT(Write({.replicas = 9, .terminating = 0}), IsEmpty());
  stage.Idle();
  EXPECT_THAT(stage.Take(), ElementsAre(HasSubstr("at rest at replicas 0"))) << "it has not";
}

TEST_F(ReplicaStatusTest, AfterAnAdoptionViewsMayBeMixedUntilOneFits) {
  stage.Put(LivePod("a", "web"));
  stage.Adopt(LivePod("b", "web"));
  EXPECT_THAT(Write({.replicas = 3, .fully_labeled = 3, .terminating = 0}), IsEmpty());
  EXPECT_THAT(Write({.replicas = 2, .fully_labeled = 2, .terminating = 0}), IsEmpty());
  EXPECT_THAT(Write({.replicas = 3, .fully_labeled = 3, .terminating = 0}), SizeIs(1));
}

TEST_F(ReplicaStatusTest, AChangedTemplateIsCountedAgain) {
  stage.Put(LivePod("a", "web"));
  EXPECT_THAT(Write({.replicas = 1, .fully_labeled = 1, .terminating = 0}), IsEmpty());
  set.template_labels = Labels("app=web,tier=front");
  stage.Put(set);
  EXPECT_THAT(Write({.replicas = 1, .fully_labeled = 0, .terminating = 0}), IsEmpty());
  EXPECT_THAT(Write({.replicas = 1, .fully_labeled = 1, .terminating = 0}), SizeIs(1));
}

TEST_F(ReplicaStatusTest, WhenIdleTheStatusIsCurrent) {
  stage.Put(LivePod("a", "web"));
  EXPECT_THAT(Write({.replicas = 1, .fully_labeled = 1, .terminating = 0}), IsEmpty());
  stage.Idle();
  EXPECT_THAT(stage.Take(), IsEmpty());
  stage.Put(ReadyPod("a", "web"));
  stage.Idle();
  EXPECT_THAT(stage.Take(), ElementsAre(HasSubstr("its pods are at rest at replicas 1")));
  stage.Idle();
  EXPECT_THAT(stage.Take(), IsEmpty()) << "reported once";
}

TEST_F(ReplicaStatusTest, WhenIdlePodsBecomeAvailableAtTheirTime) {
  set.min_ready_seconds = 30;
  stage.Put(set);
  stage.Put(ReadyPod("a", "web"));
  EXPECT_THAT(Write({.replicas = 1, .fully_labeled = 1, .ready = 1, .terminating = 0}), IsEmpty());
  stage.now += 29s;
  stage.Idle();
  EXPECT_THAT(stage.Take(), IsEmpty());
  stage.now += 1s;
  stage.Idle();
  EXPECT_THAT(stage.Take(), ElementsAre(HasSubstr("available 1")));
}

TEST_F(ReplicaStatusTest, WhenIdleADeletedReplicaSetIsIgnored) {
  stage.Put(LivePod("a", "web"));
  stage.RemoveReplicaSet("web");
  stage.Idle();
  stage.Put(TerminatingPod("a", "web"));
  stage.RemovePod("a");
  stage.Idle();
  EXPECT_THAT(stage.Take(), IsEmpty());
}

}  // namespace
}  // namespace terrarium::testbed::invariants
