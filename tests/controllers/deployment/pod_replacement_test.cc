// spec.podReplacementPolicy (KEP-3973 in its first form, now KEP-5882): whether terminating pods count
// towards the limit. Every test runs for every value of the policy and every setting of its gates.

#include <set>

#include <gtest/gtest.h>

#include "api/base/prng.h"
#include "api/json_access.h"
#include "controllers/deployment/internal/annotations.h"
#include "tests/controllers/deployment/deployment_testing.h"

namespace terrarium::controllers::deployment {
namespace {

using api::Json;
using api::StringAt;
using testbed::RunOutcome;
using namespace std::chrono_literals;

Json Rolling(int surge, int unavailable) {
  return {{"strategy", {{"rollingUpdate", {{"maxSurge", surge}, {"maxUnavailable", unavailable}}}}}};
}
const Json kRecreate = {{"strategy", {{"type", "Recreate"}, {"rollingUpdate", nullptr}}}};
const Json kSlowToStop = {{"stop-after", "20s"}};

class PodReplacement : public EachPolicy {
 protected:
  void Run(int replicas, const Json& spec, const Json& script = kSlowToStop) {
    cluster_.Create(replicas, spec, script);
    cluster_.RunToTheEnd();
    cluster_.peak().Restart();
  }
  bool waits() const { return cluster_.policy().Waits(); }
  bool counts() const { return cluster_.policy().terminating_gate; }
  // status.terminatingReplicas is correct, and exists only with its gate on.
  void ExpectTerminating(std::int64_t pods) {
    EXPECT_EQ(cluster_.Terminating(), pods);
    const Json status = cluster_.Status();
    ASSERT_EQ(status.contains("terminatingReplicas"), counts());
    if (counts()) {
      EXPECT_EQ(status["terminatingReplicas"], pods);
    }
  }
};
TERRARIUM_FOR_EACH_POLICY(PodReplacement);

// KEP-3973, unit: with the gate off the field is dropped, and nothing else changes.
TEST_P(PodReplacement, TheFieldIsThereWithItsGateOnly) {
  Run(1, Json::object());
  const bool kept = cluster_.policy().policy && cluster_.policy().policy_gate;
  EXPECT_EQ(cluster_.Document()["spec"].contains("podReplacementPolicy"), kept);
}

// KEP-3973, e2e: a rollout does not exceed spec.replicas + maxSurge at any time under TerminationComplete.
// (k/k#95498)
TEST_P(PodReplacement, ARolloutKeepsToTheLimitWhereTerminationIsWaitedFor) {
  Run(4, Rolling(1, 1));
  cluster_.SetImage("web:2");
  auto complete = [&] { return cluster_.Complete() && cluster_.Sizes() == "0 4"; };
  EXPECT_EQ(cluster_.bed().clock().RunUntil(complete, 1h).why, RunOutcome::Why::kDone);
  EXPECT_EQ(cluster_.Terminating() == 0, waits()) << "only who waits is complete without terminating pods";
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.LivePods(), 4);
  ExpectTerminating(0);
  EXPECT_EQ(cluster_.peak().Most() <= 5, waits());
}

// Without a surge there is never one pod too many. (k/k#97227, k/k#99513)
TEST_P(PodReplacement, WithoutASurgeNoPodStartsBeforeOneHasGone) {
  Run(3, Rolling(0, 1));
  cluster_.SetImage("web:2");
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.Sizes(), "0 3");
  EXPECT_EQ(cluster_.peak().Most() == 3, waits());
}

TEST_P(PodReplacement, ARolloverKeepsToTheLimitWhereTerminationIsWaitedFor) {
  Run(6, Rolling(2, 1));
  cluster_.SetImage("web:2", {{"stop-after", "20s"}, {"ready-delay", "10s"}});
  cluster_.Advance(15s);
  cluster_.SetImage("web:3", {{"stop-after", "20s"}, {"ready-delay", "10s"}});
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.Sizes(), "0 0 6");
  EXPECT_TRUE(cluster_.Complete());
  EXPECT_EQ(cluster_.peak().Most() <= 8, waits());
}

TEST_P(PodReplacement, AnUndoInMidRolloutKeepsToTheLimitWhereTerminationIsWaitedFor) {
  Run(6, Rolling(2, 1));
  cluster_.SetImage("web:2", {{"stop-after", "20s"}, {"ready-delay", "10s"}});
  cluster_.Advance(15s);
  cluster_.SetImage("web:1", kSlowToStop);
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.Sizes(), "0 6");
  EXPECT_EQ(cluster_.Annotation(cluster_.Document(), kRevision), "3");
  EXPECT_TRUE(cluster_.Complete());
  EXPECT_EQ(cluster_.peak().Most() <= 8, waits());
}

// KEP-5882, "Does enabling the feature change any default behavior?": only a policy does, and only
// TerminationComplete needs the counts of a ReplicaSet beyond the history limit.
TEST_P(PodReplacement, HistoryIsKeptForTerminatingPodsOnlyWhereTheyAreWaitedFor) {
  Json spec = Rolling(1, 1);
  spec["revisionHistoryLimit"] = 0;
  Run(2, spec, {{"hold", "terminating"}});
  cluster_.SetImage("web:2");
  cluster_.Settle();
  cluster_.ReleaseTerminating(1);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Terminating(), 1);
  EXPECT_EQ(cluster_.Sizes(), waits() ? "0 2" : "2");
  cluster_.ReleaseTerminating();
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.Sizes(), "2");
  EXPECT_TRUE(cluster_.Complete());
}

// The new ReplicaSet may begin with 0 pods.
TEST_P(PodReplacement, ANewReplicaSetIsCreatedNoLargerThanThereIsRoom) {
  Run(4, Rolling(2, 0), {{"hold", "terminating"}});
  cluster_.ScaleTo(2);
  cluster_.Settle();
  ExpectTerminating(2);
  cluster_.SetImage("web:2");
  cluster_.Settle();
  EXPECT_EQ(cluster_.Sizes(), waits() ? "2 0" : "0 2");
  if (waits()) {
    EXPECT_EQ(cluster_.Events("ScalingReplicaSet").size(), 2u) << "a set without pods causes no event";
    EXPECT_EQ(cluster_.Why().back().rule,
              "no ReplicaSet has the current template; room for 0: 4 of 4 pods, 2 of them terminating");
  }
}

TEST_P(PodReplacement, ScalingUpWaitsForTerminatingPodsWhereThatIsThePolicy) {
  Run(6, Rolling(1, 0));
  cluster_.ScaleTo(2);
  cluster_.Settle();
  ExpectTerminating(4);
  cluster_.ScaleTo(6);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Sizes(), waits() ? "3" : "6") << "3 and 4 that go are 6 + 1";
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.Sizes(), "6");
  ExpectTerminating(0);
  EXPECT_EQ(cluster_.peak().Most() <= 7, waits());
}

TEST_P(PodReplacement, ScalingUpUnderRecreateWaitsForTerminatingPodsWhereThatIsThePolicy) {
  Run(6, kRecreate);
  cluster_.ScaleTo(2);
  cluster_.Settle();
  ExpectTerminating(4);
  cluster_.ScaleTo(5);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Sizes(), waits() ? "2" : "5") << "there is no surge";
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.Sizes(), "5");
  EXPECT_EQ(cluster_.peak().Most() <= 6, waits());
}

TEST_P(PodReplacement, ScalingDownIsNotHeldBack) {
  Run(6, Rolling(1, 0), {{"hold", "terminating"}});
  cluster_.ScaleTo(4);
  cluster_.Settle();
  cluster_.ScaleTo(1);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Sizes(), "1");
  ExpectTerminating(5);
}

// KEP-3973, Deployment Behavior Changes: Recreate creates the new pods when the old ones have ended, and
// under TerminationStarted when they are terminating.
TEST_P(PodReplacement, RecreateWaitsForTheOldPodsUnlessTerminationStarted) {
  Run(3, kRecreate);
  cluster_.SetImage("web:2");
  cluster_.Advance(19s);
  const bool starts = cluster_.policy().Starts();
  EXPECT_EQ(cluster_.Sizes(), starts ? "0 3" : "0");
  EXPECT_EQ(cluster_.LivePods(), starts ? 3 : 0);
  ExpectTerminating(3);
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.Sizes(), "0 3");
  EXPECT_TRUE(cluster_.Complete());
  EXPECT_EQ(cluster_.peak().Most(), starts ? 6 : 3);
}

// Pods that are not terminating yet delay it under every policy.
TEST_P(PodReplacement, RecreateNeverRunsOldAndNewPodsTogether) {
  Run(4, kRecreate);
  cluster_.SetImage("web:2");
  bool together = false;
  auto watch = [&] {
    const std::vector<Json> sets = cluster_.Sets();
    together = together || (sets.size() == 2 && cluster_.PodsOf(sets[0], false) > 0 &&
                            cluster_.PodsOf(sets[1], false) > 0);
    return false;
  };
  cluster_.bed().clock().RunUntil(watch, 2min);
  EXPECT_FALSE(together);
  EXPECT_EQ(cluster_.Sizes(), "0 4");
}

// A Recreate rollout while pods of an earlier scale-down are still terminating.
TEST_P(PodReplacement, RecreateMakesNoMorePodsThanThereIsRoom) {
  Run(4, kRecreate, {{"hold", "terminating"}});
  cluster_.ScaleTo(3);
  cluster_.Settle();
  cluster_.SetImage("web:2", Json::object());
  cluster_.Settle();
  EXPECT_EQ(cluster_.Sizes(), cluster_.policy().Starts() ? "0 3" : "0");
  cluster_.ReleaseTerminating();
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.Sizes(), "0 3");
  EXPECT_TRUE(cluster_.Complete());
}

// According to the KEP, ReplicaSets replace pods deleted by others immediately. The Deployment still counts
// the deleted pods.
TEST_P(PodReplacement, PodsDeletedByOthersTakeUpRoomOfTheRollout) {
  Run(4, Rolling(2, 0), {{"hold", "terminating"}});
  cluster_.bed().Must(
      cluster_.bed().Delete("pods", {"default", cluster_.bed().List("pods", "default")[0]->header().name}));
  cluster_.Settle();
  EXPECT_EQ(cluster_.LivePods(), 4);
  ExpectTerminating(1);
  cluster_.SetImage("web:2", {{"never-ready", "true"}});
  cluster_.Settle();
  EXPECT_EQ(cluster_.Sizes(), waits() ? "4 1" : "4 2");
}

// KEP-3973, kubectl skew: an older kubectl's `rollout undo` may leave the annotation on the Deployment.
TEST_P(PodReplacement, TheSizeBeforeAScaleIsNeverCopied) {
  const std::string key(kReplicasBeforeScale);
  Run(2, Json::object());
  cluster_.Patch({{"metadata", {{"annotations", {{key, "17"}, {"other", "x"}}}}}});
  cluster_.SetImage("web:2");
  cluster_.RunToTheEnd();
  cluster_.ScaleTo(4);
  cluster_.RunToTheEnd();
  for (const Json& set : cluster_.Sets()) EXPECT_EQ(cluster_.Annotation(set, key), "");
  EXPECT_EQ(cluster_.Annotation(cluster_.Sets()[1], "other"), "x");
  const std::string name(StringAt(cluster_.Sets()[1], "metadata", "name"));
  const Json patch = {{"metadata", {{"annotations", {{key, "9"}}}}}};
  cluster_.bed().Must(cluster_.bed().Patch("replicasets", {"default", name}, patch));
  cluster_.Patch({{"metadata", {{"annotations", {{std::string(kRollbackTo), "1"}, {key, nullptr}}}}}});
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.Annotation(cluster_.Document(), key), "");
}

// KEP-3973, integration: TestTerminatingReplicasDeploymentStatus. The part that switches the gate on and off
// is in deployment_gates_test.cc.
TEST_P(PodReplacement, TestTerminatingReplicasDeploymentStatus) {
  Run(6, kRecreate, {{"hold", "terminating"}});
  ExpectTerminating(0);
  cluster_.ScaleTo(4);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Counter("replicas"), 4);
  EXPECT_EQ(cluster_.Counter("readyReplicas"), 4);
  ExpectTerminating(2);
  cluster_.ScaleTo(3);
  cluster_.Settle();
  ExpectTerminating(3);
  cluster_.ReleaseTerminating();
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.Counter("replicas"), 3);
  ExpectTerminating(0);
}

// KEP-3973, integration: TestRecreateDeploymentForPodReplacement, step by step as there, for each policy.
TEST_P(PodReplacement, TestRecreateDeploymentForPodReplacement) {
  Run(6, kRecreate, {{"hold", "terminating"}});
  cluster_.SetImage("web:2", {{"hold", "ready,terminating"}});
  cluster_.Settle();
  const bool starts = cluster_.policy().Starts();
  EXPECT_EQ(cluster_.Counter("replicas"), starts ? 6 : 0) << "after the old ReplicaSet was scaled down";
  ExpectTerminating(6);
  cluster_.ReleaseTerminating();
  cluster_.Settle();
  EXPECT_EQ(cluster_.Counter("replicas"), 6) << "with the new ReplicaSet";
  EXPECT_EQ(cluster_.Counter("unavailableReplicas"), 6);
  ExpectTerminating(0);
  // A pod of the new ReplicaSet is deleted, and replaced.
  const auto pods = cluster_.bed().List("pods", "default");
  cluster_.bed().Must(cluster_.bed().Delete("pods", {"default", pods[0]->header().name}));
  cluster_.Settle();
  EXPECT_EQ(cluster_.Counter("replicas"), 6);
  ExpectTerminating(1);
  cluster_.ScaleTo(7);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Counter("replicas"), waits() ? 6 : 7) << "scaling up in mid-rollout";
  ExpectTerminating(1);
  cluster_.ScaleTo(5);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Counter("replicas"), 5) << "scaling down in mid-rollout";
  ExpectTerminating(waits() ? 2 : 3);
  for (const auto& pod : cluster_.bed().List("pods", "default"))
    cluster_.Release(pod->header().name, "ready");
  cluster_.Settle();
  EXPECT_EQ(cluster_.Counter("availableReplicas"), 5);
  EXPECT_EQ(cluster_.Complete(), !waits());
  cluster_.ReleaseTerminating();
  cluster_.RunToTheEnd();
  EXPECT_TRUE(cluster_.Complete());
  EXPECT_EQ(cluster_.Counter("replicas"), 5);
  ExpectTerminating(0);
}

// Many pods, for the settings that make a difference there.
class ManyPods : public PodReplacement {};
INSTANTIATE_TEST_SUITE_P(Policies, ManyPods,
                         testing::Values(kNoPolicy, kTerminationComplete, AllPolicies().back()),
                         [](const auto& info) { return info.param.name; });

// KEP-3973, integration: TestRollingUpdateAndProportionalScalingForDeploymentPodReplacement, with the numbers
// of Kubernetes without TerminationComplete.
TEST_P(ManyPods, TestRollingUpdateAndProportionalScalingForDeploymentPodReplacement) {
  Run(100, Rolling(20, 0), {{"hold", "terminating"}});
  auto delete_pods_of = [this](const Json& set, int count) {
    const std::string prefix = std::string(StringAt(set, "metadata", "name")) + "-";
    for (const auto& pod : cluster_.bed().List("pods", "default"))
      if (count > 0 && !pod->header().deleting && pod->header().name.starts_with(prefix)) {
        cluster_.bed().Must(cluster_.bed().Delete("pods", {"default", pod->header().name}));
        --count;
      }
    cluster_.Settle();
  };
  delete_pods_of(cluster_.Sets()[0], 15);
  ExpectTerminating(15);
  cluster_.SetImage("web:2", {{"hold", "ready,terminating"}});
  cluster_.Settle();
  EXPECT_EQ(cluster_.Sizes(), waits() ? "100 5" : "100 20");
  delete_pods_of(cluster_.Sets()[1], 1);
  ExpectTerminating(16);
  cluster_.ScaleTo(120);
  cluster_.Settle();
  // There is room for 140 - 121 = 19: the proportions are 117 and 6, and the remaining 2 go to the largest.
  EXPECT_EQ(cluster_.Sizes(), waits() ? "118 6" : "117 23");
  const std::vector<Json> sets = cluster_.Sets();
  EXPECT_EQ(cluster_.Annotation(sets[0], kDesiredReplicas), waits() ? "100" : "120");
  EXPECT_EQ(cluster_.Annotation(sets[1], kDesiredReplicas), "120");
  EXPECT_EQ(cluster_.Annotation(sets[0], kMaxReplicas), waits() ? "120" : "140");
  EXPECT_EQ(cluster_.Annotation(sets[0], kReplicasBeforeScale), waits() ? "100" : "");
  EXPECT_EQ(cluster_.Annotation(sets[1], kMaxReplicas), "140");
  EXPECT_EQ(cluster_.Annotation(sets[1], kReplicasBeforeScale), "");
  // Pods become ready and end until the rollout is complete.
  std::set<std::string> let_become_ready;
  for (int i = 0; i < 100 && !(cluster_.Complete() && cluster_.Terminating() == 0); ++i) {
    cluster_.ReleaseTerminating();
    for (const auto& pod : cluster_.bed().List("pods", "default"))
      if (let_become_ready.insert(pod->header().name).second) cluster_.Release(pod->header().name, "ready");
    cluster_.Settle();
  }
  EXPECT_EQ(cluster_.Sizes(), "0 120");
  EXPECT_TRUE(cluster_.Complete());
  for (const Json& set : cluster_.Sets()) {
    EXPECT_EQ(cluster_.Annotation(set, kDesiredReplicas), "120");
    EXPECT_EQ(cluster_.Annotation(set, kMaxReplicas), "140");
    EXPECT_EQ(cluster_.Annotation(set, kReplicasBeforeScale), "");
  }
}

// KEP-3973, e2e: rollouts and scales at random times; the monitor of the cluster checks the bound at every
// revision.
TEST_P(PodReplacement, RandomRolloutsAndScalesConverge) {
  api::Prng prng(7);
  Run(5, Rolling(2, 1), {{"stop-after", "15s"}, {"ready-delay", "5s"}});
  int replicas = 5, most = 5;
  for (int step = 0; step < 12; ++step) {
    if (prng.Below(2) == 0) {
      cluster_.SetImage("web:" + std::to_string(prng.Below(4)));
    } else {
      replicas = static_cast<int>(prng.Below(9));
      most = std::max(most, replicas);
      cluster_.ScaleTo(replicas);
    }
    cluster_.Advance(std::chrono::seconds(prng.Below(25)));
  }
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.LivePods(), replicas);
  EXPECT_EQ(cluster_.Counter("availableReplicas"), replicas);
  EXPECT_TRUE(cluster_.Complete());
  if (waits()) {
    EXPECT_LE(cluster_.peak().Most(), most + 2);
  }
  for (const Json& set : cluster_.Sets()) EXPECT_EQ(cluster_.Annotation(set, kReplicasBeforeScale), "");
}

}  // namespace
}  // namespace terrarium::controllers::deployment
