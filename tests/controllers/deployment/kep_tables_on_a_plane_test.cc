// KEP-3973, e2e: scaling in the middle of a rollout of more than two revisions while pods are terminating, and again
// while the last scale is not complete.

#include <gtest/gtest.h>

#include "controllers/deployment/internal/annotations.h"
#include "tests/controllers/deployment/deployment_testing.h"

namespace terrarium::controllers::deployment {
namespace {

using api::Json;
using namespace std::chrono_literals;

// The tables of the KEP's section "Deployment Scaling Changes and a New Annotation for ReplicaSets", on a plane: three
// ReplicaSets of 50, 30 and 20 pods and 15 pods that are terminating, of a paused Deployment.
class KepTables : public testing::Test {
 protected:
  KepTables() {
    for (int i = 0; i < 4; ++i) {
      plane_.bed().Must(plane_.bed().Create("replicasets", "default", ReplicaSet(i)));
      plane_.Advance(1s);  // they are of different age
    }
    ScaleSet(0, 0);
    plane_.Settle();
    const Json rolling = {{"maxSurge", 10}, {"maxUnavailable", 0}};
    plane_.Create(100, {{"paused", true}, {"strategy", {{"rollingUpdate", rolling}}}});
    plane_.Settle();
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
    plane_.bed().Must(plane_.bed().Patch("replicasets", {"default", "web-" + std::to_string(i)},
                                         {{"spec", {{"replicas", replicas}}}}));
  }
  void ReleaseAllBut(int count) {
    plane_.ReleaseTerminating(count);
    plane_.Settle();
  }
  std::string BeforeScale() {
    std::string text;
    for (const Json& set : plane_.Sets()) {
      std::string before = plane_.Annotation(set, kReplicasBeforeScale);
      text += (before.empty() ? "-" : before + "/" + plane_.Annotation(set, kMaxReplicas)) + " ";
    }
    return text;
  }
  WebPlane plane_{kTerminationComplete};
};

TEST_F(KepTables, SecondTableOneScale) {
  EXPECT_EQ(plane_.Sizes(), "0 50 30 20") << "T1";
  EXPECT_EQ(plane_.Terminating(), 15);
  plane_.ScaleTo(120);
  plane_.Settle();
  EXPECT_EQ(plane_.Sizes(), "0 59 35 21") << "T2";
  EXPECT_EQ(BeforeScale(), "- 50/110 - 20/110 ");
  ReleaseAllBut(5);
  EXPECT_EQ(plane_.Sizes(), "0 66 35 24") << "T3";
  EXPECT_EQ(BeforeScale(), "- 50/110 - - ");
  ReleaseAllBut(0);
  EXPECT_EQ(plane_.Sizes(), "0 71 35 24") << "T4";
  EXPECT_EQ(BeforeScale(), "- - - - ");
  EXPECT_EQ(plane_.peak().Most(), 130);
}

// T3 is what the KEP's own rules give; the table prints 66/38/21 there.
TEST_F(KepTables, ThirdTableAScaleWithinAScale) {
  plane_.ScaleTo(120);
  plane_.Settle();
  EXPECT_EQ(plane_.Sizes(), "0 59 35 21") << "T2";
  plane_.ScaleTo(130);
  plane_.Settle();
  EXPECT_EQ(plane_.Sizes(), "0 64 38 23") << "T3";
  ReleaseAllBut(5);
  EXPECT_EQ(plane_.Sizes(), "0 72 38 25") << "T4";
  ReleaseAllBut(0);
  EXPECT_EQ(plane_.Sizes(), "0 77 38 25") << "T5";
  EXPECT_EQ(BeforeScale(), "- - - - ");
}

// The policy is taken away in mid-scale: the scale completes at once, from where it began.
TEST_F(KepTables, WithoutThePolicyAPartialScaleIsCompletedAtOnce) {
  plane_.ScaleTo(120);
  plane_.Settle();
  plane_.PatchSpec({{"podReplacementPolicy", nullptr}});
  plane_.Settle();
  EXPECT_EQ(plane_.Sizes(), "0 71 35 24");
  EXPECT_EQ(BeforeScale(), "- - - - ");
}

}  // namespace
}  // namespace terrarium::controllers::deployment
