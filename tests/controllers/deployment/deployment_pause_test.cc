// Paused Deployments, and progress deadlines.

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
  WebCluster cluster;
  cluster.Create(1, kPaused);
  cluster.RunToTheEnd();
  EXPECT_TRUE(cluster.Sets().empty());
  EXPECT_EQ(cluster.Condition("Progressing"), "Unknown DeploymentPaused");
  cluster.PatchSpec(kGoesOn);
  cluster.RunToTheEnd();
  EXPECT_TRUE(cluster.Complete());
  cluster.PatchSpec(kPaused);
  cluster.SetImage("web:2");
  cluster.RunToTheEnd();
  EXPECT_EQ(cluster.Sets().size(), 1u) << "a paused Deployment does not roll out";
  EXPECT_EQ(cluster.Counter("observedGeneration"), cluster.Document()["metadata"]["generation"]);
  cluster.PatchSpec(kGoesOn);
  cluster.Settle();
  EXPECT_EQ(cluster.Sets().size(), 2u);
}

TEST(PausedDeployment, IsResumedWithANewDeadline) {
  WebCluster cluster;
  cluster.Create(2, {{"progressDeadlineSeconds", 60}}, {{"never-ready", "true"}});
  cluster.Advance(30s);
  cluster.PatchSpec(kPaused);
  cluster.Advance(1h);
  EXPECT_EQ(cluster.Condition("Progressing"), "Unknown DeploymentPaused");
  cluster.PatchSpec(kGoesOn);
  cluster.Advance(1s);
  EXPECT_EQ(cluster.Condition("Progressing"), "Unknown DeploymentResumed");
  EXPECT_EQ(cluster.ConditionMessage("Progressing"), "Deployment is resumed");
  cluster.Advance(58s);
  EXPECT_EQ(cluster.Condition("Progressing"), "Unknown DeploymentResumed");
  cluster.Advance(1s);
  EXPECT_EQ(cluster.Condition("Progressing"), "False ProgressDeadlineExceeded");
}

TEST(PausedDeployment, ForgetsHistoryAllTheSame) {
  WebCluster cluster;
  cluster.Create(1);
  cluster.RunToTheEnd();
  cluster.SetImage("web:2");
  cluster.RunToTheEnd();
  cluster.PatchSpec({{"paused", true}, {"revisionHistoryLimit", 0}});
  cluster.RunToTheEnd();
  EXPECT_EQ(cluster.Sets().size(), 1u);
}

TEST(PausedDeployment, DoesNotRollBackUntilItIsResumed) {
  WebCluster cluster;
  cluster.Create(1);
  cluster.RunToTheEnd();
  cluster.SetImage("web:2");
  cluster.RunToTheEnd();
  cluster.PatchSpec(kPaused);
  cluster.Patch({{"metadata", {{"annotations", {{std::string(kRollbackTo), "1"}}}}}});
  cluster.RunToTheEnd();
  EXPECT_EQ(cluster.Annotation(cluster.Document(), kRollbackTo), "1");
  cluster.PatchSpec(kGoesOn);
  cluster.RunToTheEnd();
  EXPECT_EQ(cluster.Annotation(cluster.Document(), kRollbackTo), "");
  EXPECT_EQ(cluster.Annotation(cluster.Document(), kRevision), "3");
}

class PausedUnderEachPolicy : public EachPolicy {};
TERRARIUM_FOR_EACH_POLICY(PausedUnderEachPolicy);

// Cases that crash the only known prototype of the policy.
TEST_P(PausedUnderEachPolicy, ScalingWithoutAnyReplicaSetDoesNothing) {
  cluster_.Create(1, kPaused);
  cluster_.RunToTheEnd();
  cluster_.ScaleTo(5);
  cluster_.RunToTheEnd();
  EXPECT_TRUE(cluster_.Sets().empty());
  EXPECT_EQ(cluster_.Counter("observedGeneration"), cluster_.Document()["metadata"]["generation"]);
  cluster_.PatchSpec(kGoesOn);
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.Sizes(), "5");
}

// TestScalePausedDeployment of Kubernetes.
TEST_P(PausedUnderEachPolicy, ScalingWithoutAReplicaSetOfTheTemplateScalesTheOldOne) {
  cluster_.Create(3);
  cluster_.RunToTheEnd();
  cluster_.PatchSpec(kPaused);
  cluster_.SetImage("web:2");
  cluster_.RunToTheEnd();
  cluster_.ScaleTo(5);
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.Sizes(), "5");
  EXPECT_EQ(cluster_.Annotation(cluster_.Sets()[0], kDesiredReplicas), "5");
  cluster_.ScaleTo(2);
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.Sizes(), "2");
  EXPECT_EQ(cluster_.Counter("replicas"), 2);
  EXPECT_EQ(cluster_.Counter("updatedReplicas"), 0);
}

TEST_P(PausedUnderEachPolicy, InMidRolloutItIsScaledInProportion) {
  cluster_.Create(10, {{"strategy", {{"rollingUpdate", {{"maxSurge", 3}, {"maxUnavailable", 2}}}}}},
                  {{"stop-after", "20s"}});
  cluster_.RunToTheEnd();
  cluster_.SetImage("web:2", {{"never-ready", "true"}, {"stop-after", "20s"}});
  cluster_.Advance(1min);
  ASSERT_EQ(cluster_.Sizes(), "8 5");
  cluster_.PatchSpec(kPaused);
  cluster_.ScaleTo(20);
  cluster_.Advance(1min);
  EXPECT_EQ(cluster_.Sizes(), "14 9") << "8 and 5 of 13 become 14 and 9 of 23";
  cluster_.ScaleTo(5);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Sizes(), "5 3") << "scaling down is not held back";
  // The pods are still terminating: a scale-up waits for them under TerminationComplete.
  cluster_.ScaleTo(20);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Sizes() == "5 3", cluster_.policy().Waits());
  EXPECT_EQ(cluster_.Sizes() == "14 9", !cluster_.policy().Waits());
  auto before_scale = [this](std::size_t i) {
    return cluster_.Annotation(cluster_.Sets()[i], kReplicasBeforeScale);
  };
  EXPECT_EQ(before_scale(0), cluster_.policy().Waits() ? "5" : "");
  EXPECT_EQ(before_scale(1), cluster_.policy().Waits() ? "3" : "");
  cluster_.Advance(1min);
  EXPECT_EQ(cluster_.Sizes(), "14 9");
  for (const Json& set : cluster_.Sets()) {
    EXPECT_EQ(cluster_.Annotation(set, kReplicasBeforeScale), "");
    EXPECT_EQ(cluster_.Annotation(set, kDesiredReplicas), "20");
    EXPECT_EQ(cluster_.Annotation(set, kMaxReplicas), "23");
  }
}

TEST_P(PausedUnderEachPolicy, APartialScaleIsGivenUpWhenItIsScaledDown) {
  cluster_.Create(4, {{"strategy", {{"rollingUpdate", {{"maxSurge", 2}, {"maxUnavailable", 1}}}}}},
                  {{"hold", "terminating"}});
  cluster_.RunToTheEnd();
  cluster_.SetImage("web:2", {{"never-ready", "true"}, {"hold", "terminating"}});
  cluster_.Advance(1s);
  const bool waits = cluster_.policy().Waits();
  ASSERT_EQ(cluster_.Sizes(), waits ? "3 2" : "3 3");
  cluster_.PatchSpec(kPaused);
  cluster_.ScaleTo(8);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Sizes(), waits ? "6 3" : "5 5") << "6, 3 and one that goes are 8 + 2";
  EXPECT_EQ(cluster_.Annotation(cluster_.Sets()[0], kReplicasBeforeScale), waits ? "3" : "");
  cluster_.ScaleTo(2);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Counter("replicas"), 4);
  for (const Json& set : cluster_.Sets()) EXPECT_EQ(cluster_.Annotation(set, kReplicasBeforeScale), "");
}

class DeadlineUnderEachPolicy : public EachPolicy {
 protected:
  // A finished rollout whose old pods are all held in terminating.
  void HoldOldPods(const Json& spec) {
    Json whole = spec;
    whole["strategy"] = {{"rollingUpdate", {{"maxSurge", 3}, {"maxUnavailable", 0}}}};
    cluster_.Create(3, whole, {{"hold", "terminating"}});
    cluster_.RunToTheEnd();
    cluster_.SetImage("web:2", Json::object());
    cluster_.Advance(1s);
    ASSERT_EQ(cluster_.Sizes(), "0 3");
    ASSERT_EQ(cluster_.Terminating(), 3);
  }
};
TERRARIUM_FOR_EACH_POLICY(DeadlineUnderEachPolicy);

TEST_P(DeadlineUnderEachPolicy, PodsThatNeverBecomeReadyFailTheRolloutAtTheDeadline) {
  cluster_.Create(3, {{"progressDeadlineSeconds", 60}}, {{"stop-after", "5s"}});
  cluster_.RunToTheEnd();
  cluster_.SetImage("web:2", {{"never-ready", "true"}});
  cluster_.Advance(59s);
  EXPECT_EQ(cluster_.Condition("Progressing"), "True ReplicaSetUpdated");
  cluster_.Advance(1s);
  EXPECT_EQ(cluster_.Condition("Progressing"), "False ProgressDeadlineExceeded");
  cluster_.SetImage("web:3", Json::object());
  cluster_.RunToTheEnd();
  EXPECT_TRUE(cluster_.Complete());
}

TEST_P(DeadlineUnderEachPolicy, EachPodThatBecomesReadyResetsIt) {
  cluster_.Create(
      3, {{"progressDeadlineSeconds", 60}, {"strategy", {{"rollingUpdate", {{"maxUnavailable", 0}}}}}},
      {{"stop-after", "5s"}});
  cluster_.RunToTheEnd();
  cluster_.SetImage("web:2", {{"ready-delay", "50s"}});
  cluster_.Advance(100s);
  EXPECT_EQ(cluster_.Condition("Progressing"), "True ReplicaSetUpdated");
  cluster_.RunToTheEnd();
  EXPECT_TRUE(cluster_.Complete());
}

// KEP-3973, Deployment Completion and Progress Changes: under TerminationComplete a Deployment is complete
// when no terminating pod is left.
TEST_P(DeadlineUnderEachPolicy, CompletionWaitsForTerminatingPodsWhereThatIsThePolicy) {
  HoldOldPods({{"progressDeadlineSeconds", 60}});
  EXPECT_EQ(cluster_.Complete(), !cluster_.policy().Waits());
  cluster_.ReleaseTerminating();
  cluster_.RunToTheEnd();
  EXPECT_TRUE(cluster_.Complete());
  EXPECT_EQ(cluster_.Terminating(), 0);
}

TEST_P(DeadlineUnderEachPolicy, PodsThatDoNotGoFailTheRolloutWhereTheyAreWaitedFor) {
  HoldOldPods({{"progressDeadlineSeconds", 60}});
  cluster_.Advance(2min);
  EXPECT_EQ(cluster_.Condition("Progressing"),
            cluster_.policy().Waits() ? "False ProgressDeadlineExceeded" : "True NewReplicaSetAvailable");
  cluster_.ReleaseTerminating();
  cluster_.RunToTheEnd();
  EXPECT_TRUE(cluster_.Complete());
}

// KEP-3973: a falling number of terminating pods resets the deadline.
TEST_P(DeadlineUnderEachPolicy, EachPodThatGoesResetsItWhereTheyAreWaitedFor) {
  HoldOldPods({{"progressDeadlineSeconds", 60}});
  for (int left = 2; left >= 0; --left) {
    cluster_.Advance(50s);
    EXPECT_NE(cluster_.Condition("Progressing"), "False ProgressDeadlineExceeded");
    cluster_.ReleaseTerminating(left);
    cluster_.Settle();
    EXPECT_EQ(cluster_.Terminating(), left);
  }
  EXPECT_TRUE(cluster_.Complete());
}

// The same while a scale in mid-rollout waits for terminating pods for longer than the deadline.
TEST_P(DeadlineUnderEachPolicy, EachPodThatGoesResetsItInMidScaleWhereTheyAreWaitedFor) {
  cluster_.Create(10,
                  {{"progressDeadlineSeconds", 60},
                   {"strategy", {{"rollingUpdate", {{"maxSurge", 3}, {"maxUnavailable", 2}}}}}},
                  {{"hold", "terminating"}, {"ready-delay", "10m"}});
  cluster_.RunToTheEnd();
  cluster_.SetImage("web:2", {{"never-ready", "true"}, {"hold", "terminating"}});
  cluster_.Advance(1s);
  ASSERT_EQ(cluster_.Terminating(), 2);
  cluster_.ScaleTo(20);
  cluster_.Advance(58s);
  if (!cluster_.policy().Waits()) return;
  ASSERT_EQ(cluster_.Annotation(cluster_.Sets()[0], kReplicasBeforeScale), "8");
  for (int left = 1; left >= 0; --left) {
    cluster_.ReleaseTerminating(left);
    cluster_.Advance(50s);
    EXPECT_EQ(cluster_.Condition("Progressing"), "True ReplicaSetUpdated") << left << " are left";
  }
  EXPECT_EQ(cluster_.Sizes(), "18 5") << "the scale is complete";
}

TEST_P(DeadlineUnderEachPolicy, PodsThatDoNotGoFailTheRolloutInMidScaleWhereTheyAreWaitedFor) {
  cluster_.Create(10,
                  {{"progressDeadlineSeconds", 60},
                   {"strategy", {{"rollingUpdate", {{"maxSurge", 3}, {"maxUnavailable", 2}}}}}},
                  {{"hold", "terminating"}});
  cluster_.RunToTheEnd();
  cluster_.SetImage("web:2", {{"never-ready", "true"}, {"hold", "terminating"}});
  cluster_.Advance(1s);
  cluster_.ScaleTo(20);
  cluster_.Advance(2min);
  EXPECT_EQ(cluster_.Condition("Progressing"), "False ProgressDeadlineExceeded") << "whatever it waits for";
}

}  // namespace
}  // namespace terrarium::controllers::deployment
