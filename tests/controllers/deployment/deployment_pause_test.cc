// Deployments that are paused, and deadlines.

#include <gtest/gtest.h>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "controllers/deployment/internal/annotations.h"
#include "tests/controllers/deployment/deployment_testing.h"

namespace terrarium::controllers::deployment {
namespace {

using api::Json;
using api::StringAt;
using namespace std::chrono_literals;

const Json kPaused = {{"paused", true}};
const Json kGoesOn = {{"paused", false}};

// TestPausedDeployment of Kubernetes.
TEST(PausedDeployment, MakesNoReplicaSetUntilItIsResumed) {
  WebPlane plane;
  plane.Create(1, kPaused);
  plane.RunToTheEnd();
  EXPECT_TRUE(plane.Sets().empty());
  EXPECT_EQ(plane.Condition("Progressing"), "Unknown DeploymentPaused");
  plane.PatchSpec(kGoesOn);
  plane.RunToTheEnd();
  EXPECT_TRUE(plane.Complete());
  plane.PatchSpec(kPaused);
  plane.SetImage("web:2");
  plane.RunToTheEnd();
  EXPECT_EQ(plane.Sets().size(), 1u) << "a paused Deployment does not roll out";
  EXPECT_EQ(plane.Counter("observedGeneration"), plane.Document()["metadata"]["generation"]);
  plane.PatchSpec(kGoesOn);
  plane.Settle();
  EXPECT_EQ(plane.Sets().size(), 2u);
}

TEST(PausedDeployment, IsResumedWithANewDeadline) {
  WebPlane plane;
  plane.Create(2, {{"progressDeadlineSeconds", 60}}, {{"never-ready", "true"}});
  plane.Advance(30s);
  plane.PatchSpec(kPaused);
  plane.Advance(1h);
  EXPECT_EQ(plane.Condition("Progressing"), "Unknown DeploymentPaused");
  plane.PatchSpec(kGoesOn);
  plane.Advance(1s);
  EXPECT_EQ(plane.Condition("Progressing"), "Unknown DeploymentResumed");
  EXPECT_EQ(plane.ConditionMessage("Progressing"), "Deployment is resumed");
  plane.Advance(58s);
  EXPECT_EQ(plane.Condition("Progressing"), "Unknown DeploymentResumed");
  plane.Advance(1s);
  EXPECT_EQ(plane.Condition("Progressing"), "False ProgressDeadlineExceeded");
}

TEST(PausedDeployment, ForgetsHistoryAllTheSame) {
  WebPlane plane;
  plane.Create(1);
  plane.RunToTheEnd();
  plane.SetImage("web:2");
  plane.RunToTheEnd();
  plane.PatchSpec({{"paused", true}, {"revisionHistoryLimit", 0}});
  plane.RunToTheEnd();
  EXPECT_EQ(plane.Sets().size(), 1u);
}

TEST(PausedDeployment, DoesNotRollBackUntilItIsResumed) {
  WebPlane plane;
  plane.Create(1);
  plane.RunToTheEnd();
  plane.SetImage("web:2");
  plane.RunToTheEnd();
  plane.PatchSpec(kPaused);
  plane.Patch({{"metadata", {{"annotations", {{std::string(kRollbackTo), "1"}}}}}});
  plane.RunToTheEnd();
  EXPECT_EQ(plane.Annotation(plane.Document(), kRollbackTo), "1");
  plane.PatchSpec(kGoesOn);
  plane.RunToTheEnd();
  EXPECT_EQ(plane.Annotation(plane.Document(), kRollbackTo), "");
  EXPECT_EQ(plane.Annotation(plane.Document(), kRevision), "3");
}

class PausedUnderEachPolicy : public EachPolicy {};
TERRARIUM_FOR_EACH_POLICY(PausedUnderEachPolicy);

// Cases that crash the only known prototype of the policy.
TEST_P(PausedUnderEachPolicy, ScalingWithoutAnyReplicaSetDoesNothing) {
  plane_.Create(1, kPaused);
  plane_.RunToTheEnd();
  plane_.ScaleTo(5);
  plane_.RunToTheEnd();
  EXPECT_TRUE(plane_.Sets().empty());
  EXPECT_EQ(plane_.Counter("observedGeneration"), plane_.Document()["metadata"]["generation"]);
  plane_.PatchSpec(kGoesOn);
  plane_.RunToTheEnd();
  EXPECT_EQ(plane_.Sizes(), "5");
}

// TestScalePausedDeployment of Kubernetes.
TEST_P(PausedUnderEachPolicy, ScalingWithoutAReplicaSetOfTheTemplateScalesTheOldOne) {
  plane_.Create(3);
  plane_.RunToTheEnd();
  plane_.PatchSpec(kPaused);
  plane_.SetImage("web:2");
  plane_.RunToTheEnd();
  plane_.ScaleTo(5);
  plane_.RunToTheEnd();
  EXPECT_EQ(plane_.Sizes(), "5");
  EXPECT_EQ(plane_.Annotation(plane_.Sets()[0], kDesiredReplicas), "5");
  plane_.ScaleTo(2);
  plane_.RunToTheEnd();
  EXPECT_EQ(plane_.Sizes(), "2");
  EXPECT_EQ(plane_.Counter("replicas"), 2);
  EXPECT_EQ(plane_.Counter("updatedReplicas"), 0);
}

TEST_P(PausedUnderEachPolicy, InMidRolloutItIsScaledInProportion) {
  plane_.Create(10, {{"strategy", {{"rollingUpdate", {{"maxSurge", 3}, {"maxUnavailable", 2}}}}}},
                {{"stop-after", "20s"}});
  plane_.RunToTheEnd();
  plane_.SetImage("web:2", {{"never-ready", "true"}, {"stop-after", "20s"}});
  plane_.Advance(1min);
  ASSERT_EQ(plane_.Sizes(), "8 5");
  plane_.PatchSpec(kPaused);
  plane_.ScaleTo(20);
  plane_.Advance(1min);
  EXPECT_EQ(plane_.Sizes(), "14 9") << "8 and 5 of 13 become 14 and 9 of 23";
  plane_.ScaleTo(5);
  plane_.Settle();
  EXPECT_EQ(plane_.Sizes(), "5 3") << "scaling down is not held back";
  // Its pods are still going: what scales up again waits for them where that is the policy.
  plane_.ScaleTo(20);
  plane_.Settle();
  EXPECT_EQ(plane_.Sizes() == "5 3", plane_.policy().Waits());
  EXPECT_EQ(plane_.Sizes() == "14 9", !plane_.policy().Waits());
  auto before_scale = [this](std::size_t i) { return plane_.Annotation(plane_.Sets()[i], kReplicasBeforeScale); };
  EXPECT_EQ(before_scale(0), plane_.policy().Waits() ? "5" : "");
  EXPECT_EQ(before_scale(1), plane_.policy().Waits() ? "3" : "");
  plane_.Advance(1min);
  EXPECT_EQ(plane_.Sizes(), "14 9");
  for (const Json& set : plane_.Sets()) {
    EXPECT_EQ(plane_.Annotation(set, kReplicasBeforeScale), "");
    EXPECT_EQ(plane_.Annotation(set, kDesiredReplicas), "20");
    EXPECT_EQ(plane_.Annotation(set, kMaxReplicas), "23");
  }
}

TEST_P(PausedUnderEachPolicy, APartialScaleIsGivenUpWhenItIsScaledDown) {
  plane_.Create(4, {{"strategy", {{"rollingUpdate", {{"maxSurge", 2}, {"maxUnavailable", 1}}}}}},
                {{"hold", "terminating"}});
  plane_.RunToTheEnd();
  plane_.SetImage("web:2", {{"never-ready", "true"}, {"hold", "terminating"}});
  plane_.Advance(1s);
  const bool waits = plane_.policy().Waits();
  ASSERT_EQ(plane_.Sizes(), waits ? "3 2" : "3 3");
  plane_.PatchSpec(kPaused);
  plane_.ScaleTo(8);
  plane_.Settle();
  EXPECT_EQ(plane_.Sizes(), waits ? "6 3" : "5 5") << "6, 3 and one that goes are 8 + 2";
  EXPECT_EQ(plane_.Annotation(plane_.Sets()[0], kReplicasBeforeScale), waits ? "3" : "");
  plane_.ScaleTo(2);
  plane_.Settle();
  EXPECT_EQ(plane_.Counter("replicas"), 4);
  for (const Json& set : plane_.Sets()) EXPECT_EQ(plane_.Annotation(set, kReplicasBeforeScale), "");
}

class DeadlineUnderEachPolicy : public EachPolicy {
 protected:
  // A rollout that has taken place, whose old pods are all held in terminating.
  void HoldOldPods(const Json& spec) {
    Json whole = spec;
    whole["strategy"] = {{"rollingUpdate", {{"maxSurge", 3}, {"maxUnavailable", 0}}}};
    plane_.Create(3, whole, {{"hold", "terminating"}});
    plane_.RunToTheEnd();
    plane_.SetImage("web:2", Json::object());
    plane_.Advance(1s);
    ASSERT_EQ(plane_.Sizes(), "0 3");
    ASSERT_EQ(plane_.Terminating(), 3);
  }
};
TERRARIUM_FOR_EACH_POLICY(DeadlineUnderEachPolicy);

TEST_P(DeadlineUnderEachPolicy, PodsThatNeverBecomeReadyFailTheRolloutAtTheDeadline) {
  plane_.Create(3, {{"progressDeadlineSeconds", 60}}, {{"stop-after", "5s"}});
  plane_.RunToTheEnd();
  plane_.SetImage("web:2", {{"never-ready", "true"}});
  plane_.Advance(59s);
  EXPECT_EQ(plane_.Condition("Progressing"), "True ReplicaSetUpdated");
  plane_.Advance(1s);
  EXPECT_EQ(plane_.Condition("Progressing"), "False ProgressDeadlineExceeded");
  plane_.SetImage("web:3", Json::object());
  plane_.RunToTheEnd();
  EXPECT_TRUE(plane_.Complete());
}

TEST_P(DeadlineUnderEachPolicy, EachPodThatBecomesReadyResetsIt) {
  plane_.Create(3, {{"progressDeadlineSeconds", 60}, {"strategy", {{"rollingUpdate", {{"maxUnavailable", 0}}}}}},
                {{"stop-after", "5s"}});
  plane_.RunToTheEnd();
  plane_.SetImage("web:2", {{"ready-delay", "50s"}});
  plane_.Advance(100s);
  EXPECT_EQ(plane_.Condition("Progressing"), "True ReplicaSetUpdated");
  plane_.RunToTheEnd();
  EXPECT_TRUE(plane_.Complete());
}

// KEP-3973, Deployment Completion and Progress Changes: where termination is waited for, a Deployment is complete when
// no terminating pod is left.
TEST_P(DeadlineUnderEachPolicy, CompletionWaitsForTerminatingPodsWhereThatIsThePolicy) {
  HoldOldPods({{"progressDeadlineSeconds", 60}});
  EXPECT_EQ(plane_.Complete(), !plane_.policy().Waits());
  plane_.ReleaseTerminating();
  plane_.RunToTheEnd();
  EXPECT_TRUE(plane_.Complete());
  EXPECT_EQ(plane_.Terminating(), 0);
}

TEST_P(DeadlineUnderEachPolicy, PodsThatDoNotGoFailTheRolloutWhereTheyAreWaitedFor) {
  HoldOldPods({{"progressDeadlineSeconds", 60}});
  plane_.Advance(2min);
  EXPECT_EQ(plane_.Condition("Progressing"),
            plane_.policy().Waits() ? "False ProgressDeadlineExceeded" : "True NewReplicaSetAvailable");
  plane_.ReleaseTerminating();
  plane_.RunToTheEnd();
  EXPECT_TRUE(plane_.Complete());
}

// KEP-3973: a falling number of terminating pods resets the deadline.
TEST_P(DeadlineUnderEachPolicy, EachPodThatGoesResetsItWhereTheyAreWaitedFor) {
  HoldOldPods({{"progressDeadlineSeconds", 60}});
  for (int left = 2; left >= 0; --left) {
    plane_.Advance(50s);
    EXPECT_NE(plane_.Condition("Progressing"), "False ProgressDeadlineExceeded");
    plane_.ReleaseTerminating(left);
    plane_.Settle();
    EXPECT_EQ(plane_.Terminating(), left);
  }
  EXPECT_TRUE(plane_.Complete());
}

// The same while a scale in mid-rollout waits for them, which takes longer than the deadline here.
TEST_P(DeadlineUnderEachPolicy, EachPodThatGoesResetsItInMidScaleWhereTheyAreWaitedFor) {
  plane_.Create(10, {{"progressDeadlineSeconds", 60},
                     {"strategy", {{"rollingUpdate", {{"maxSurge", 3}, {"maxUnavailable", 2}}}}}},
                {{"hold", "terminating"}, {"ready-delay", "10m"}});
  plane_.RunToTheEnd();
  plane_.SetImage("web:2", {{"never-ready", "true"}, {"hold", "terminating"}});
  plane_.Advance(1s);
  ASSERT_EQ(plane_.Terminating(), 2);
  plane_.ScaleTo(20);
  plane_.Advance(58s);
  if (!plane_.policy().Waits()) return;
  ASSERT_EQ(plane_.Annotation(plane_.Sets()[0], kReplicasBeforeScale), "8");
  for (int left = 1; left >= 0; --left) {
    plane_.ReleaseTerminating(left);
    plane_.Advance(50s);
    EXPECT_EQ(plane_.Condition("Progressing"), "True ReplicaSetUpdated") << left << " are left";
  }
  EXPECT_EQ(plane_.Sizes(), "18 5") << "the scale is complete";
}

TEST_P(DeadlineUnderEachPolicy, PodsThatDoNotGoFailTheRolloutInMidScaleWhereTheyAreWaitedFor) {
  plane_.Create(10, {{"progressDeadlineSeconds", 60},
                     {"strategy", {{"rollingUpdate", {{"maxSurge", 3}, {"maxUnavailable", 2}}}}}},
                {{"hold", "terminating"}});
  plane_.RunToTheEnd();
  plane_.SetImage("web:2", {{"never-ready", "true"}, {"hold", "terminating"}});
  plane_.Advance(1s);
  plane_.ScaleTo(20);
  plane_.Advance(2min);
  EXPECT_EQ(plane_.Condition("Progressing"), "False ProgressDeadlineExceeded") << "whatever it waits for";
}

}  // namespace
}  // namespace terrarium::controllers::deployment
