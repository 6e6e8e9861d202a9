// KEP-3973, e2e: scaling in the middle of a rollout of more than two revisions while pods are terminating,
// and again while the last scale is incomplete.

#include <gtest/gtest.h>

#include "controllers/deployment/internal/annotations.h"
#include "tests/controllers/deployment/deployment_testing.h"

namespace terrarium::controllers::deployment {
namespace {

using api::Json;
using namespace std::chrono_literals;

// The tables of the KEP's section "Deployment Scaling Changes and a New Annotation for ReplicaSets", on a
// cluster: a paused Deployment with three ReplicaSets of 50, 30 and 20 pods and 15 terminating pods.
class KepTables : public testing::Test {
 protected:
  KepTables() {
    for (int i = 0; i < 4; ++i) {
      cluster_.bed().Must(cluster_.bed().Create("replicasets", "default", ReplicaSet(i)));
      cluster_.Advance(1s);  // ages differ
    }
    ScaleSet(0, 0);
    cluster_.Settle();
    const Json rolling = {{"maxSurge", 10}, {"maxUnavailable", 0}};
    cluster_.Create(100, {{"paused", true}, {"strategy", {{"rollingUpdate", rolling}}}});
    cluster_.Settle();
  }
  Json ReplicaSet(int i) {
    static constexpr int kSizes[] = {15, 50, 30, 20};
    const std::string name = "web-" + std::to_string(i);
    const Json labels = {{"app", "web"}, {"set", name}};
    const Json annotations = {{std::string(kRevision), std::to_string(i + 1)},
                              {std::string(kDesiredReplicas), "100"},
                              {std::string(kMaxReplicas), "110"}};
    return {{"metadata", {{"name", name}, {"labels", labels}, {"annotations", annotations}}},
            {"spec",
             {{"replicas", kSizes[i]},
              {"selector", {{"matchLabels", labels}}},
              {"template",
               {{"metadata", {{"labels", labels}, {"annotations", {{"terrarium.dev/hold", "terminating"}}}}},
                {"spec", {{"containers", {{{"name", "c"}, {"image", name}}}}}}}}}}};
  }
  void ScaleSet(int i, int replicas) {
    cluster_.bed().Must(cluster_.bed().Patch("replicasets", {"default", "web-" + std::to_string(i)},
                                             {{"spec", {{"replicas", replicas}}}}));
  }
  void ReleaseAllBut(int count) {
    cluster_.ReleaseTerminating(count);
    cluster_.Settle();
  }
  std::string BeforeScale() {
    std::string text;
    for (const Json& set : cluster_.Sets()) {
      std::string before = cluster_.Annotation(set, kReplicasBeforeScale);
      text += (before.empty() ? "-" : before + "/" + cluster_.Annotation(set, kMaxReplicas)) + " ";
    }
    return text;
  }
  WebCluster cluster_{kTerminationComplete};
};

TEST_F(KepTables, SecondTableOneScale) {
  EXPECT_EQ(cluster_.Sizes(), "0 50 30 20") << "T1";
  EXPECT_EQ(cluster_.Terminating(), 15);
  cluster_.ScaleTo(120);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Sizes(), "0 59 35 21") << "T2";
  EXPECT_EQ(BeforeScale(), "- 50/110 - 20/110 ");
  ReleaseAllBut(5);
  EXPECT_EQ(cluster_.Sizes(), "0 66 35 24") << "T3";
  EXPECT_EQ(BeforeScale(), "- 50/110 - - ");
  ReleaseAllBut(0);
  EXPECT_EQ(cluster_.Sizes(), "0 71 35 24") << "T4";
  EXPECT_EQ(BeforeScale(), "- - - - ");
  EXPECT_EQ(cluster_.peak().Most(), 130);
}

// T3 follows the KEP's own rules; the table prints 66/38/21 there.
TEST_F(KepTables, ThirdTableAScaleWithinAScale) {
  cluster_.ScaleTo(120);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Sizes(), "0 59 35 21") << "T2";
  cluster_.ScaleTo(130);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Sizes(), "0 64 38 23") << "T3";
  ReleaseAllBut(5);
  EXPECT_EQ(cluster_.Sizes(), "0 72 38 25") << "T4";
  ReleaseAllBut(0);
  EXPECT_EQ(cluster_.Sizes(), "0 77 38 25") << "T5";
  EXPECT_EQ(BeforeScale(), "- - - - ");
}

// The policy is removed in mid-scale: the scale completes immediately, from the sizes at its beginning.
TEST_F(KepTables, WithoutThePolicyAPartialScaleIsCompletedImmediately) {
  cluster_.ScaleTo(120);
  cluster_.Settle();
  cluster_.PatchSpec({{"podReplacementPolicy", nullptr}});
  cluster_.Settle();
  EXPECT_EQ(cluster_.Sizes(), "0 71 35 24");
  EXPECT_EQ(BeforeScale(), "- - - - ");
}

// A downgrade of the controller-manager in mid-scale turns its gate off.
TEST_F(KepTables, WithTheGateSwitchedOffAPartialScaleIsCompletedImmediately) {
  cluster_.ScaleTo(120);
  cluster_.Settle();
  cluster_.bed().Must(
      cluster_.bed().SetGates("controller-manager", {{"DeploymentPodReplacementPolicy", false}}));
  cluster_.Settle();
  EXPECT_EQ(cluster_.Sizes(), "0 71 35 24");
  EXPECT_EQ(BeforeScale(), "- - - - ");
}

// A downgrade to a release that knows neither the policy nor the annotation. The scale is still visible in
// desired-replicas and max-replicas. Proportions are computed from the current sizes.
TEST_F(KepTables, AReleaseWithoutThePolicyFinishesAPartialScale) {
  cluster_.ScaleTo(120);
  cluster_.Settle();
  EXPECT_EQ(cluster_.Sizes(), "0 59 35 21") << "T2";
  cluster_.bed().Must(cluster_.bed().Stop("controller-manager"));
  for (const char* set : {"web-1", "web-3"})
    cluster_.bed().Must(cluster_.bed().Patch(
        "replicasets", {"default", set},
        {{"metadata", {{"annotations", {{std::string(kReplicasBeforeScale), nullptr}}}}}}));
  cluster_.bed().Must(
      cluster_.bed().SetGates("controller-manager", {{"DeploymentPodReplacementPolicy", false}}));
  cluster_.bed().Must(cluster_.bed().Start("controller-manager"));
  cluster_.Settle();
  EXPECT_EQ(cluster_.Sizes(), "0 70 35 25");
  for (int i = 1; i < 4; ++i) {
    EXPECT_EQ(cluster_.Annotation(cluster_.Sets()[i], kDesiredReplicas), "120");
    EXPECT_EQ(cluster_.Annotation(cluster_.Sets()[i], kMaxReplicas), "130");
  }
}

}  // namespace
}  // namespace terrarium::controllers::deployment
