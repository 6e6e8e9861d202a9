// "maxSurge does not bound pods while old ones terminate", k/k#95498, #99513 and #97227: the situations of
// the reports, and the same with podReplacementPolicy TerminationComplete.

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
using controllers::deployment::WebCluster;

// k/k#95498: 15 replicas and the default of 25 % for both: a surge of 4, and 3 that may be unavailable. The
// reporter's pods take 60 s to stop.
class FifteenReplicas {
 public:
  explicit FifteenReplicas(const PolicyCase& policy) : cluster_(policy) {
    const Json spec = {{"template", {{"spec", {{"terminationGracePeriodSeconds", 120}}}}}};
    cluster_.Create(15, spec, {{"stop-after", "60s"}, {"ready-delay", "30s"}});
    cluster_.RunToTheEnd();
    cluster_.peak().Restart();
    cluster_.SetImage("web:2");
    cluster_.Settle();
  }
  WebCluster& web() { return cluster_; }

 private:
  WebCluster cluster_;
};

TEST(SurgeBound, BeforeSevenPodsStartInPlaceOfFourWhileThreeTerminate) {
  FifteenReplicas fifteen(kNoPolicy);
  WebCluster& cluster = fifteen.web();
  EXPECT_EQ(cluster.Sizes(), "12 7");
  EXPECT_EQ(cluster.Terminating(), 3);
  EXPECT_EQ(cluster.Pods(), 22) << "where the user reckons with 15 + 4";
  cluster.RunToTheEnd();
  EXPECT_EQ(cluster.Sizes(), "0 15");
  // It gets worse: when the 7 are ready, 7 old ones are deleted and 7 more are created, and the first 3 are
  // still terminating.
  EXPECT_EQ(cluster.peak().Most(), 29);
}

TEST(SurgeBound, AfterFourPodsStartWhileThreeTerminate) {
  FifteenReplicas fifteen(kTerminationComplete);
  WebCluster& cluster = fifteen.web();
  EXPECT_EQ(cluster.Sizes(), "12 4");
  EXPECT_EQ(cluster.Terminating(), 3);
  EXPECT_EQ(cluster.Pods(), 19);
  cluster.RunToTheEnd();
  EXPECT_EQ(cluster.Sizes(), "0 15");
  EXPECT_TRUE(cluster.Complete());
  EXPECT_EQ(cluster.peak().Most(), 19);
}

// k/k#99513, #97227: no surge, and a cluster in which every node has room for one pod. A pod too many finds
// no node, and an autoscaler would add one for it.
class FullCluster {
 public:
  explicit FullCluster(const PolicyCase& policy) : cluster_(policy, {.nodes = 4}) {
    const Json container = {{"name", "c"}, {"image", "web:1"}, {"resources", {{"requests", {{"cpu", "5"}}}}}};
    const Json spec = {{"strategy", {{"rollingUpdate", {{"maxSurge", 0}, {"maxUnavailable", 1}}}}},
                       {"template", {{"spec", {{"containers", Json::array({container})}}}}}};
    cluster_.Create(4, spec, {{"stop-after", "20s"}});
    cluster_.RunToTheEnd();
    cluster_.peak().Restart();
    // The change that `kubectl rollout restart` makes.
    const Json annotations = {{"kubectl.kubernetes.io/restartedAt", "2026-01-01T00:00:00Z"}};
    cluster_.PatchSpec({{"template", {{"metadata", {{"annotations", annotations}}}}}});
  }
  WebCluster& web() { return cluster_; }

  int PodsWithoutANode() {
    int count = 0;
    for (const api::ObjectPtr& pod : cluster_.bed().List("pods", "default"))
      count += StringAt(*pod->Document(), "spec", "nodeName").empty() ? 1 : 0;
    return count;
  }
  int FailedSchedulings() {
    int count = 0;
    for (const api::ObjectPtr& event : cluster_.bed().List("events", "default"))
      count += StringAt(*event->Document(), "reason") == "FailedScheduling" ? 1 : 0;
    return count;
  }

 private:
  WebCluster cluster_;
};

TEST(SurgeBound, BeforeAPodStartsThatNoNodeHasRoomFor) {
  FullCluster cluster(kNoPolicy);
  cluster.web().Settle();
  EXPECT_EQ(cluster.web().Terminating(), 1);
  EXPECT_EQ(cluster.PodsWithoutANode(), 1);
  cluster.web().RunToTheEnd();
  EXPECT_EQ(cluster.web().Sizes(), "0 4");
  EXPECT_GE(cluster.FailedSchedulings(), 4) << "each of the new pods";
  EXPECT_EQ(cluster.web().peak().Most(), 5);
}

TEST(SurgeBound, AfterEveryPodFindsTheNodeThatAnotherHasLeft) {
  FullCluster cluster(kTerminationComplete);
  cluster.web().Settle();
  EXPECT_EQ(cluster.web().Terminating(), 1);
  EXPECT_EQ(cluster.PodsWithoutANode(), 0);
  cluster.web().RunToTheEnd();
  EXPECT_EQ(cluster.web().Sizes(), "0 4");
  EXPECT_TRUE(cluster.web().Complete());
  EXPECT_EQ(cluster.FailedSchedulings(), 0);
  EXPECT_EQ(cluster.web().peak().Most(), 4);
}

}  // namespace
}  // namespace terrarium::scenarios
