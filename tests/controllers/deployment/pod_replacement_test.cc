// spec.podReplacementPolicy (KEP-3973 in its first form, now KEP-5882): whether pods that are still terminating take up
// room. Every scenario runs for every value of the policy and every setting of its gates.

#include <gtest/gtest.h>

#include <set>

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
    plane_.Create(replicas, spec, script);
    plane_.RunToTheEnd();
    plane_.peak().Restart();
  }
  bool waits() const { return plane_.policy().Waits(); }
  bool counts() const { return plane_.policy().terminating_gate; }
  // status.terminatingReplicas is there with its gate only, and is right.
  void ExpectTerminating(std::int64_t pods) {
    EXPECT_EQ(plane_.Terminating(), pods);
    const Json status = plane_.Status();
    ASSERT_EQ(status.contains("terminatingReplicas"), counts());
    if (counts()) {
      EXPECT_EQ(status["terminatingReplicas"], pods);
    }
  }
};
TERRARIUM_FOR_EACH_POLICY(PodReplacement);

// KEP-3973, unit: the field is dropped, and nothing is different, when its gate is off.
TEST_P(PodReplacement, TheFieldIsThereWithItsGateOnly) {
  Run(1, Json::object());
  const bool kept = plane_.policy().policy && plane_.policy().policy_gate;
  EXPECT_EQ(plane_.Document()["spec"].contains("podReplacementPolicy"), kept);
}

// KEP-3973, e2e: a rollout does not exceed spec.replicas + maxSurge at any time under TerminationComplete. (k/k#95498)
TEST_P(PodReplacement, ARolloutKeepsToTheLimitWhereTerminationIsWaitedFor) {
  Run(4, Rolling(1, 1));
  plane_.SetImage("web:2");
  auto complete = [&] { return plane_.Complete() && plane_.Sizes() == "0 4"; };
  EXPECT_EQ(plane_.bed().clock().RunUntil(complete, 1h).why, RunOutcome::Why::kDone);
  EXPECT_EQ(plane_.Terminating() == 0, waits()) << "only who waits is complete without terminating pods";
  plane_.RunToTheEnd();
  EXPECT_EQ(plane_.LivePods(), 4);
  ExpectTerminating(0);
  EXPECT_EQ(plane_.peak().Most() <= 5, waits());
}

// Without a surge not one pod more than wanted is there. (k/k#97227, k/k#99513)
TEST_P(PodReplacement, WithoutASurgeNoPodStartsBeforeOneHasGone) {
  Run(3, Rolling(0, 1));
  plane_.SetImage("web:2");
  plane_.RunToTheEnd();
  EXPECT_EQ(plane_.Sizes(), "0 3");
  EXPECT_EQ(plane_.peak().Most() == 3, waits());
}

TEST_P(PodReplacement, ARolloverKeepsToTheLimitWhereTerminationIsWaitedFor) {
  Run(6, Rolling(2, 1));
  plane_.SetImage("web:2", {{"stop-after", "20s"}, {"ready-delay", "10s"}});
  plane_.Advance(15s);
  plane_.SetImage("web:3", {{"stop-after", "20s"}, {"ready-delay", "10s"}});
  plane_.RunToTheEnd();
  EXPECT_EQ(plane_.Sizes(), "0 0 6");
  EXPECT_TRUE(plane_.Complete());
  EXPECT_EQ(plane_.peak().Most() <= 8, waits());
}

TEST_P(PodReplacement, AnUndoInMidRolloutKeepsToTheLimitWhereTerminationIsWaitedFor) {
  Run(6, Rolling(2, 1));
  plane_.SetImage("web:2", {{"stop-after", "20s"}, {"ready-delay", "10s"}});
  plane_.Advance(15s);
  plane_.SetImage("web:1", kSlowToStop);
  plane_.RunToTheEnd();
  EXPECT_EQ(plane_.Sizes(), "0 6");
  EXPECT_EQ(plane_.Annotation(plane_.Document(), kRevision), "3");
  EXPECT_TRUE(plane_.Complete());
  EXPECT_EQ(plane_.peak().Most() <= 8, waits());
}

// The new ReplicaSet may begin with no pod at all.
TEST_P(PodReplacement, ANewReplicaSetIsCreatedNoLargerThanThereIsRoom) {
  Run(4, Rolling(2, 0), {{"hold", "terminating"}});
  plane_.ScaleTo(2);
  plane_.Settle();
  ExpectTerminating(2);
  plane_.SetImage("web:2");
  plane_.Settle();
  EXPECT_EQ(plane_.Sizes(), waits() ? "2 0" : "0 2");
  if (waits()) {
    EXPECT_EQ(plane_.Events("ScalingReplicaSet").size(), 2u) << "a set without pods is no event";
    EXPECT_EQ(plane_.Why().back().rule,
              "no ReplicaSet has the current template; room for 0: 4 of 4 pods, 2 of them terminating");
  }
}

TEST_P(PodReplacement, ScalingUpWaitsForTerminatingPodsWhereThatIsThePolicy) {
  Run(6, Rolling(1, 0));
  plane_.ScaleTo(2);
  plane_.Settle();
  ExpectTerminating(4);
  plane_.ScaleTo(6);
  plane_.Settle();
  EXPECT_EQ(plane_.Sizes(), waits() ? "3" : "6") << "3 and 4 that go are 6 + 1";
  plane_.RunToTheEnd();
  EXPECT_EQ(plane_.Sizes(), "6");
  ExpectTerminating(0);
  EXPECT_EQ(plane_.peak().Most() <= 7, waits());
}

TEST_P(PodReplacement, ScalingUpUnderRecreateWaitsForTerminatingPodsWhereThatIsThePolicy) {
  Run(6, kRecreate);
  plane_.ScaleTo(2);
  plane_.Settle();
  ExpectTerminating(4);
  plane_.ScaleTo(5);
  plane_.Settle();
  EXPECT_EQ(plane_.Sizes(), waits() ? "2" : "5") << "there is no surge";
  plane_.RunToTheEnd();
  EXPECT_EQ(plane_.Sizes(), "5");
  EXPECT_EQ(plane_.peak().Most() <= 6, waits());
}

TEST_P(PodReplacement, ScalingDownIsNotHeldBack) {
  Run(6, Rolling(1, 0), {{"hold", "terminating"}});
  plane_.ScaleTo(4);
  plane_.Settle();
  plane_.ScaleTo(1);
  plane_.Settle();
  EXPECT_EQ(plane_.Sizes(), "1");
  ExpectTerminating(5);
}

// KEP-3973, Deployment Behavior Changes: Recreate makes the new pods when the old ones have gone, under
// TerminationStarted when they are terminating.
TEST_P(PodReplacement, RecreateWaitsForTheOldPodsUnlessTerminationStarted) {
  Run(3, kRecreate);
  plane_.SetImage("web:2");
  plane_.Advance(19s);
  const bool starts = plane_.policy().Starts();
  EXPECT_EQ(plane_.Sizes(), starts ? "0 3" : "0");
  EXPECT_EQ(plane_.LivePods(), starts ? 3 : 0);
  ExpectTerminating(3);
  plane_.RunToTheEnd();
  EXPECT_EQ(plane_.Sizes(), "0 3");
  EXPECT_TRUE(plane_.Complete());
  EXPECT_EQ(plane_.peak().Most(), starts ? 6 : 3);
}

// Those that have not been told to stop yet hold it back whatever the policy.
TEST_P(PodReplacement, RecreateNeverRunsOldAndNewPodsTogether) {
  Run(4, kRecreate);
  plane_.SetImage("web:2");
  bool together = false;
  auto watch = [&] {
    const std::vector<Json> sets = plane_.Sets();
    together = together || (sets.size() == 2 && plane_.PodsOf(sets[0], false) > 0 && plane_.PodsOf(sets[1], false) > 0);
    return false;
  };
  plane_.bed().clock().RunUntil(watch, 2min);
  EXPECT_FALSE(together);
  EXPECT_EQ(plane_.Sizes(), "0 4");
}

// A Recreate rollout while pods of an earlier scale-down are still going.
TEST_P(PodReplacement, RecreateMakesNoMorePodsThanThereIsRoom) {
  Run(4, kRecreate, {{"hold", "terminating"}});
  plane_.ScaleTo(3);
  plane_.Settle();
  plane_.SetImage("web:2", Json::object());
  plane_.Settle();
  EXPECT_EQ(plane_.Sizes(), plane_.policy().Starts() ? "0 3" : "0");
  plane_.ReleaseTerminating();
  plane_.RunToTheEnd();
  EXPECT_EQ(plane_.Sizes(), "0 3");
  EXPECT_TRUE(plane_.Complete());
}

// Pods that others delete are replaced by their ReplicaSet at once, by the KEP; the Deployment still counts them.
TEST_P(PodReplacement, PodsDeletedByOthersTakeUpRoomOfTheRollout) {
  Run(4, Rolling(2, 0), {{"hold", "terminating"}});
  plane_.bed().Must(plane_.bed().Delete("pods", {"default", plane_.bed().List("pods", "default")[0]->header().name}));
  plane_.Settle();
  EXPECT_EQ(plane_.LivePods(), 4);
  ExpectTerminating(1);
  plane_.SetImage("web:2", {{"never-ready", "true"}});
  plane_.Settle();
  EXPECT_EQ(plane_.Sizes(), waits() ? "4 1" : "4 2");
}

// A ReplicaSet with terminating replicas is not cleaned up as old history while the gates of the policy are on.
TEST_P(PodReplacement, HistoryWithTerminatingPodsIsKeptWhileTheGatesAreOn) {
  Json spec = Rolling(2, 0);
  spec["revisionHistoryLimit"] = 0;
  Run(2, spec, {{"hold", "terminating"}});
  plane_.SetImage("web:2", Json::object());
  plane_.Advance(1min);
  const bool both_gates = plane_.policy().policy_gate && counts();
  EXPECT_EQ(plane_.Sizes(), both_gates ? "0 2" : "2");
  plane_.ReleaseTerminating();
  plane_.RunToTheEnd();
  EXPECT_EQ(plane_.Sizes(), "2");
}

// KEP-3973, kubectl skew: an older kubectl's `rollout undo` may leave the annotation on the Deployment.
TEST_P(PodReplacement, TheSizeBeforeAScaleIsNeverCopied) {
  const std::string key(kReplicasBeforeScale);
  Run(2, Json::object());
  plane_.Patch({{"metadata", {{"annotations", {{key, "17"}, {"other", "x"}}}}}});
  plane_.SetImage("web:2");
  plane_.RunToTheEnd();
  plane_.ScaleTo(4);
  plane_.RunToTheEnd();
  for (const Json& set : plane_.Sets()) EXPECT_EQ(plane_.Annotation(set, key), "");
  EXPECT_EQ(plane_.Annotation(plane_.Sets()[1], "other"), "x");
  const std::string name(StringAt(plane_.Sets()[1], "metadata", "name"));
  const Json patch = {{"metadata", {{"annotations", {{key, "9"}}}}}};
  plane_.bed().Must(plane_.bed().Patch("replicasets", {"default", name}, patch));
  plane_.Patch({{"metadata", {{"annotations", {{std::string(kRollbackTo), "1"}, {key, nullptr}}}}}});
  plane_.RunToTheEnd();
  EXPECT_EQ(plane_.Annotation(plane_.Document(), key), "");
}

// KEP-3973, integration: TestTerminatingReplicasDeploymentStatus. The part that switches the gate on and off is in
// deployment_gates_test.cc.
TEST_P(PodReplacement, TestTerminatingReplicasDeploymentStatus) {
  Run(6, kRecreate, {{"hold", "terminating"}});
  ExpectTerminating(0);
  plane_.ScaleTo(4);
  plane_.Settle();
  EXPECT_EQ(plane_.Counter("replicas"), 4);
  EXPECT_EQ(plane_.Counter("readyReplicas"), 4);
  ExpectTerminating(2);
  plane_.ScaleTo(3);
  plane_.Settle();
  ExpectTerminating(3);
  plane_.ReleaseTerminating();
  plane_.RunToTheEnd();
  EXPECT_EQ(plane_.Counter("replicas"), 3);
  ExpectTerminating(0);
}

// KEP-3973, integration: TestRecreateDeploymentForPodReplacement, step by step as there, for each policy.
TEST_P(PodReplacement, TestRecreateDeploymentForPodReplacement) {
  Run(6, kRecreate, {{"hold", "terminating"}});
  plane_.SetImage("web:2", {{"hold", "ready,terminating"}});
  plane_.Settle();
  const bool starts = plane_.policy().Starts();
  EXPECT_EQ(plane_.Counter("replicas"), starts ? 6 : 0) << "after the old ReplicaSet was scaled down";
  ExpectTerminating(6);
  plane_.ReleaseTerminating();
  plane_.Settle();
  EXPECT_EQ(plane_.Counter("replicas"), 6) << "with the new ReplicaSet";
  EXPECT_EQ(plane_.Counter("unavailableReplicas"), 6);
  ExpectTerminating(0);
  // A pod of the new ReplicaSet goes, and is replaced.
  const auto pods = plane_.bed().List("pods", "default");
  plane_.bed().Must(plane_.bed().Delete("pods", {"default", pods[0]->header().name}));
  plane_.Settle();
  EXPECT_EQ(plane_.Counter("replicas"), 6);
  ExpectTerminating(1);
  plane_.ScaleTo(7);
  plane_.Settle();
  EXPECT_EQ(plane_.Counter("replicas"), waits() ? 6 : 7) << "scaling up in mid-rollout";
  ExpectTerminating(1);
  plane_.ScaleTo(5);
  plane_.Settle();
  EXPECT_EQ(plane_.Counter("replicas"), 5) << "scaling down in mid-rollout";
  ExpectTerminating(waits() ? 2 : 3);
  for (const auto& pod : plane_.bed().List("pods", "default")) plane_.Release(pod->header().name, "ready");
  plane_.Settle();
  EXPECT_EQ(plane_.Counter("availableReplicas"), 5);
  EXPECT_EQ(plane_.Complete(), !waits());
  plane_.ReleaseTerminating();
  plane_.RunToTheEnd();
  EXPECT_TRUE(plane_.Complete());
  EXPECT_EQ(plane_.Counter("replicas"), 5);
  ExpectTerminating(0);
}

// With many pods, for the settings that differ in them.
class ManyPods : public PodReplacement {};
INSTANTIATE_TEST_SUITE_P(Policies, ManyPods,
                         testing::Values(kNoPolicy, kTerminationComplete, AllPolicies().back()),
                         [](const auto& info) { return info.param.name; });

// KEP-3973, integration: TestRollingUpdateAndProportionalScalingForDeploymentPodReplacement, with the numbers of
// Kubernetes where termination is not waited for.
TEST_P(ManyPods, TestRollingUpdateAndProportionalScalingForDeploymentPodReplacement) {
  Run(100, Rolling(20, 0), {{"hold", "terminating"}});
  auto delete_pods_of = [this](const Json& set, int count) {
    const std::string prefix = std::string(StringAt(set, "metadata", "name")) + "-";
    for (const auto& pod : plane_.bed().List("pods", "default"))
      if (count > 0 && !pod->header().deleting && pod->header().name.starts_with(prefix)) {
        plane_.bed().Must(plane_.bed().Delete("pods", {"default", pod->header().name}));
        --count;
      }
    plane_.Settle();
  };
  delete_pods_of(plane_.Sets()[0], 15);
  ExpectTerminating(15);
  plane_.SetImage("web:2", {{"hold", "ready,terminating"}});
  plane_.Settle();
  EXPECT_EQ(plane_.Sizes(), waits() ? "100 5" : "100 20");
  delete_pods_of(plane_.Sets()[1], 1);
  ExpectTerminating(16);
  plane_.ScaleTo(120);
  plane_.Settle();
  // There is room for 140 - 121 = 19: the proportions are 117 and 6, of which 2 are left for the largest.
  EXPECT_EQ(plane_.Sizes(), waits() ? "118 6" : "117 23");
  const std::vector<Json> sets = plane_.Sets();
  for (const Json& set : sets) EXPECT_EQ(plane_.Annotation(set, kDesiredReplicas), "120");
  EXPECT_EQ(plane_.Annotation(sets[0], kMaxReplicas), waits() ? "120" : "140");
  EXPECT_EQ(plane_.Annotation(sets[0], kReplicasBeforeScale), waits() ? "100" : "");
  EXPECT_EQ(plane_.Annotation(sets[1], kMaxReplicas), "140");
  EXPECT_EQ(plane_.Annotation(sets[1], kReplicasBeforeScale), "");
  // Pods become ready and go until all is done.
  std::set<std::string> let_become_ready;
  for (int i = 0; i < 100 && !(plane_.Complete() && plane_.Terminating() == 0); ++i) {
    plane_.ReleaseTerminating();
    for (const auto& pod : plane_.bed().List("pods", "default"))
      if (let_become_ready.insert(pod->header().name).second) plane_.Release(pod->header().name, "ready");
    plane_.Settle();
  }
  EXPECT_EQ(plane_.Sizes(), "0 120");
  EXPECT_TRUE(plane_.Complete());
  for (const Json& set : plane_.Sets()) {
    EXPECT_EQ(plane_.Annotation(set, kDesiredReplicas), "120");
    EXPECT_EQ(plane_.Annotation(set, kMaxReplicas), "140");
    EXPECT_EQ(plane_.Annotation(set, kReplicasBeforeScale), "");
  }
}

// KEP-3973, e2e: rollouts and scales at random times; the monitor of the plane checks the bound at every revision.
TEST_P(PodReplacement, RandomRolloutsAndScalesConverge) {
  api::Prng prng(7);
  Run(5, Rolling(2, 1), {{"stop-after", "15s"}, {"ready-delay", "5s"}});
  int replicas = 5, most = 5;
  for (int step = 0; step < 12; ++step) {
    if (prng.Below(2) == 0) {
      plane_.SetImage("web:" + std::to_string(prng.Below(4)));
    } else {
      replicas = static_cast<int>(prng.Below(9));
      most = std::max(most, replicas);
      plane_.ScaleTo(replicas);
    }
    plane_.Advance(std::chrono::seconds(prng.Below(25)));
  }
  plane_.RunToTheEnd();
  EXPECT_EQ(plane_.LivePods(), replicas);
  EXPECT_EQ(plane_.Counter("availableReplicas"), replicas);
  EXPECT_TRUE(plane_.Complete());
  if (waits()) {
    EXPECT_LE(plane_.peak().Most(), most + 2);
  }
  for (const Json& set : plane_.Sets()) EXPECT_EQ(plane_.Annotation(set, kReplicasBeforeScale), "");
}

}  // namespace
}  // namespace terrarium::controllers::deployment
