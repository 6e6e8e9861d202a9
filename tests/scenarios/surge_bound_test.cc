// "maxSurge does not bound pods while old ones terminate", the complaint of k/k#95498, #99513 and #97227, as its
// reporters met it, and the same with podReplacementPolicy TerminationComplete.

#include <gtest/gtest.h>

#include "api/json_access.h"
#include "tests/controllers/deployment/deployment_testing.h"

namespace terrarium::scenarios {
namespace {

using api::Json;
using api::StringAt;
using namespace std::chrono_literals;
using controllers::deployment::kNoPolicy;
using controllers::deployment::kTerminationComplete;
using controllers::deployment::PolicyCase;
using controllers::deployment::WebPlane;

// k/k#95498: 15 replicas and the default of 25 % for both, which is a surge of 4 and 3 that may be unavailable. The
// reporter's pods take 60 s to stop.
class FifteenReplicas {
 public:
  explicit FifteenReplicas(const PolicyCase& policy) : plane_(policy) {
    const Json spec = {{"template", {{"spec", {{"terminationGracePeriodSeconds", 120}}}}}};
    plane_.Create(15, spec, {{"stop-after", "60s"}, {"ready-delay", "30s"}});
    plane_.RunToTheEnd();
    plane_.peak().Restart();
    plane_.SetImage("web:2");
    plane_.Settle();
  }
  WebPlane& plane() { return plane_; }

 private:
  WebPlane plane_;
};

TEST(SurgeBound, BeforeSevenPodsStartInPlaceOfFourWhileThreeTerminate) {
  FifteenReplicas fifteen(kNoPolicy);
  WebPlane& plane = fifteen.plane();
  EXPECT_EQ(plane.Sizes(), "12 7");
  EXPECT_EQ(plane.Terminating(), 3);
  EXPECT_EQ(plane.Pods(), 22) << "where the user reckons with 15 + 4";
  plane.RunToTheEnd();
  EXPECT_EQ(plane.Sizes(), "0 15");
  // It gets worse: when the 7 are ready, 7 old ones are told to go and 7 more come, and the first 3 are still there.
  EXPECT_EQ(plane.peak().Most(), 29);
}

TEST(SurgeBound, AfterFourPodsStartWhileThreeTerminate) {
  FifteenReplicas fifteen(kTerminationComplete);
  WebPlane& plane = fifteen.plane();
  EXPECT_EQ(plane.Sizes(), "12 4");
  EXPECT_EQ(plane.Terminating(), 3);
  EXPECT_EQ(plane.Pods(), 19);
  plane.RunToTheEnd();
  EXPECT_EQ(plane.Sizes(), "0 15");
  EXPECT_TRUE(plane.Complete());
  EXPECT_EQ(plane.peak().Most(), 19);
}

// k/k#99513, #97227: no surge, and a cluster in which every node has room for one pod. A pod too many finds no node,
// and an autoscaler buys one for it.
class FullCluster {
 public:
  explicit FullCluster(const PolicyCase& policy) : plane_(policy, {.nodes = 4}) {
    const Json container = {{"name", "c"}, {"image", "web:1"}, {"resources", {{"requests", {{"cpu", "5"}}}}}};
    const Json spec = {{"strategy", {{"rollingUpdate", {{"maxSurge", 0}, {"maxUnavailable", 1}}}}},
                       {"template", {{"spec", {{"containers", Json::array({container})}}}}}};
    plane_.Create(4, spec, {{"stop-after", "20s"}});
    plane_.RunToTheEnd();
    plane_.peak().Restart();
    // What `kubectl rollout restart` does.
    const Json annotations = {{"kubectl.kubernetes.io/restartedAt", "2026-01-01T00:00:00Z"}};
    plane_.PatchSpec({{"template", {{"metadata", {{"annotations", annotations}}}}}});
  }
  WebPlane& plane() { return plane_; }

  int PodsWithoutANode() {
    int count = 0;
    for (const api::ObjectPtr& pod : plane_.bed().List("pods", "default"))
      count += StringAt(*pod->Document(), "spec", "nodeName").empty() ? 1 : 0;
    return count;
  }
  int FailedSchedulings() {
    int count = 0;
    for (const api::ObjectPtr& event : plane_.bed().List("events", "default"))
      count += StringAt(*event->Document(), "reason") == "FailedScheduling" ? 1 : 0;
    return count;
  }

 private:
  WebPlane plane_;
};

TEST(SurgeBound, BeforeAPodStartsThatNoNodeHasRoomFor) {
  FullCluster cluster(kNoPolicy);
  cluster.plane().Settle();
  EXPECT_EQ(cluster.plane().Terminating(), 1);
  EXPECT_EQ(cluster.PodsWithoutANode(), 1);
  cluster.plane().RunToTheEnd();
  EXPECT_EQ(cluster.plane().Sizes(), "0 4");
  EXPECT_GE(cluster.FailedSchedulings(), 4) << "each of the new pods";
  EXPECT_EQ(cluster.plane().peak().Most(), 5);
}

TEST(SurgeBound, AfterEveryPodFindsTheNodeThatAnotherHasLeft) {
  FullCluster cluster(kTerminationComplete);
  cluster.plane().Settle();
  EXPECT_EQ(cluster.plane().Terminating(), 1);
  EXPECT_EQ(cluster.PodsWithoutANode(), 0);
  cluster.plane().RunToTheEnd();
  EXPECT_EQ(cluster.plane().Sizes(), "0 4");
  EXPECT_TRUE(cluster.plane().Complete());
  EXPECT_EQ(cluster.FailedSchedulings(), 0);
  EXPECT_EQ(cluster.plane().peak().Most(), 4);
}

}  // namespace
}  // namespace terrarium::scenarios
