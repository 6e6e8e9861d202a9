// Updates of a StatefulSet's template: order, partition, maxUnavailable, OnDelete, history and rollback.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_access.h"
#include "tests/controllers/statefulset/statefulset_testing.h"

namespace terrarium::controllers_testing {
namespace {

using api::Json;
using testing::ElementsAre;
using testing::SizeIs;
using namespace std::chrono_literals;

Json Rolling(const Json& parameters) {
  return {{"updateStrategy", {{"type", "RollingUpdate"}, {"rollingUpdate", parameters}}}};
}

std::vector<std::string> Since(const std::vector<std::string>& all, std::size_t count) {
  return {all.begin() + static_cast<std::ptrdiff_t>(count), all.end()};
}

std::string Image(int number) { return "web:" + std::to_string(number); }

TEST(StatefulSetRollout, ReplacesPodsFromTheHighestOrdinal) {
  SetCluster cluster;
  cluster.CreateSet(3, {}, {{"ready-delay", "10s"}});
  cluster.Idle();
  const std::size_t before = cluster.Decisions().size();
  cluster.SetImage(Image(2));
  cluster.Settle();
  EXPECT_EQ(cluster.Images(), "1 1 2");
  EXPECT_EQ(cluster.PodStates(), "0 1 2n");
  EXPECT_EQ(cluster.Counter("currentReplicas"), 2);
  EXPECT_EQ(cluster.Counter("updatedReplicas"), 1);
  EXPECT_NE(cluster.Status()["currentRevision"], cluster.Status()["updateRevision"]);
  cluster.Advance(11s);
  EXPECT_EQ(cluster.Images(), "1 2 2");
  cluster.Idle();
  EXPECT_EQ(cluster.Images(), "2 2 2");
  EXPECT_EQ(cluster.Status()["currentRevision"], cluster.Status()["updateRevision"]);
  EXPECT_EQ(cluster.Counter("currentReplicas"), 3);
  EXPECT_EQ(cluster.Counter("observedGeneration"), 2);
  EXPECT_THAT(Since(cluster.Decisions(), before),
              ElementsAre("delete web-2", "create web-2", "delete web-1", "create web-1", "delete web-0",
                          "create web-0"));
}

TEST(StatefulSetRollout, TheRuleNamesTheRevisions) {
  SetCluster cluster;
  cluster.CreateSet(1, {}, {{"stop-after", "10s"}});
  cluster.Idle();
  const std::string old = cluster.Status()["updateRevision"];
  cluster.SetImage(Image(2));
  cluster.Settle();
  const std::string update = cluster.Status()["updateRevision"];
  EXPECT_EQ(cluster.LastRule(), "the pod is of revision " + old + ", the update revision is " + update);
  EXPECT_EQ(cluster.Counter("currentReplicas"), 0);
  EXPECT_EQ(cluster.EventTexts().back(),
            "Normal SuccessfulDelete Delete Pod web-0 in StatefulSet web successful");
}

TEST(StatefulSetRollout, ThePartitionKeepsLowerOrdinals) {
  SetCluster cluster;
  cluster.CreateSet(4, Rolling({{"partition", 2}}));
  cluster.Idle();
  cluster.SetImage(Image(2));
  cluster.Idle();
  EXPECT_EQ(cluster.Images(), "1 1 2 2");
  EXPECT_EQ(cluster.Counter("currentReplicas"), 2);
  EXPECT_EQ(cluster.Counter("updatedReplicas"), 2);
  // A pod below the partition comes back as it was.
  cluster.Must(cluster.Delete("pods", {"default", "web-0"}));
  cluster.Idle();
  EXPECT_EQ(cluster.Images(), "1 1 2 2");
  EXPECT_NE(cluster.Status()["currentRevision"], cluster.Status()["updateRevision"]);
  cluster.PatchSpec(Rolling({{"partition", 0}}));
  cluster.Idle();
  EXPECT_EQ(cluster.Images(), "2 2 2 2");
  EXPECT_EQ(cluster.Status()["currentRevision"], cluster.Status()["updateRevision"]);
}

TEST(StatefulSetRollout, APartitionAboveTheReplicasUpdatesNothing) {
  SetCluster cluster;
  cluster.CreateSet(2, Rolling({{"partition", 5}}));
  cluster.Idle();
  cluster.SetImage(Image(2));
  cluster.Idle();
  EXPECT_EQ(cluster.Images(), "1 1");
  cluster.ScaleTo(3);
  cluster.Idle();
  EXPECT_EQ(cluster.Images(), "1 1 1");
}

TEST(StatefulSetRollout, ThePartitionCountsFromTheFirstOrdinal) {
  SetCluster cluster;
  Json spec = Rolling({{"partition", 1}});
  spec["ordinals"]["start"] = 7;
  cluster.CreateSet(3, spec);
  cluster.Idle();
  cluster.SetImage(Image(2));
  cluster.Idle();
  EXPECT_EQ(cluster.PodStates(), "7 8 9");
  EXPECT_EQ(cluster.Images(), "1 2 2");
}

TEST(StatefulSetRollout, OnDeleteWaitsForTheUser) {
  SetCluster cluster;
  cluster.CreateSet(3, {{"updateStrategy", {{"type", "OnDelete"}}}});
  cluster.Idle();
  cluster.SetImage(Image(2));
  cluster.Idle();
  EXPECT_EQ(cluster.Images(), "1 1 1");
  EXPECT_EQ(cluster.Counter("updatedReplicas"), 0);
  cluster.Must(cluster.Delete("pods", {"default", "web-1"}));
  cluster.Idle();
  EXPECT_EQ(cluster.Images(), "1 2 1");
  EXPECT_EQ(cluster.Counter("updatedReplicas"), 1);
  for (const char* pod : {"web-0", "web-2"}) cluster.Must(cluster.Delete("pods", {"default", pod}));
  cluster.Idle();
  EXPECT_EQ(cluster.Images(), "2 2 2");
  // Kubernetes never completes such an update.
  EXPECT_NE(cluster.Status()["currentRevision"], cluster.Status()["updateRevision"]);
}

class MaxUnavailable : public testing::TestWithParam<const char*> {
 protected:
  static constexpr const char* kOn = "MaxUnavailableStatefulSet=true";
};

TEST_P(MaxUnavailable, SeveralPodsAreReplacedTogether) {
  SetCluster cluster({.feature_gates = kOn, .nodes = 2});
  Json spec = Rolling({{"maxUnavailable", 2}});
  spec["podManagementPolicy"] = GetParam();
  cluster.CreateSet(5, spec, {{"ready-delay", "10s"}, {"stop-after", "5s"}});
  cluster.Idle();
  EXPECT_EQ(api::IntAt(cluster.Document(), 0, "spec", "updateStrategy", "rollingUpdate", "maxUnavailable"),
            2);
  cluster.SetImage(Image(2));
  cluster.Settle();
  EXPECT_EQ(cluster.PodStates(), "0 1 2 3t 4t");
  int most = 0;
  for (int second = 0; second < 200; ++second) {
    cluster.Advance(1s);
    most = std::max(most, 5 - static_cast<int>(cluster.Counter("availableReplicas")));
  }
  EXPECT_EQ(most, 2);
  EXPECT_EQ(cluster.Images(), "2 2 2 2 2");
  EXPECT_EQ(cluster.Status()["currentRevision"], cluster.Status()["updateRevision"]);
}
INSTANTIATE_TEST_SUITE_P(Policies, MaxUnavailable, testing::Values("OrderedReady", "Parallel"));

TEST(StatefulSetRollout, MaxUnavailableIsDroppedWithoutItsGate) {
  SetCluster cluster;
  cluster.CreateSet(4, Rolling({{"maxUnavailable", 3}}), {{"stop-after", "5s"}});
  cluster.Idle();
  EXPECT_EQ(api::ObjectAt(cluster.Document(), "spec", "updateStrategy", "rollingUpdate"),
            Json({{"partition", 0}}));
  cluster.SetImage(Image(2));
  cluster.Settle();
  EXPECT_EQ(cluster.PodStates(), "0 1 2 3t");
}

// The field stays when its gate is switched off in the apiserver; the controller then ignores it.
TEST(StatefulSetRollout, MaxUnavailableOffAndOnAgain) {
  SetCluster cluster({.feature_gates = "MaxUnavailableStatefulSet=true", .nodes = 2});
  cluster.CreateSet(4, Rolling({{"maxUnavailable", 2}}), {{"stop-after", "5s"}});
  cluster.Idle();
  for (const char* component : {"apiserver", "controller-manager"})
    EXPECT_TRUE(cluster.SetGates(component, {{"MaxUnavailableStatefulSet", false}}).ok());
  cluster.Idle();
  cluster.SetImage(Image(2));
  cluster.Settle();
  EXPECT_EQ(cluster.PodStates(), "0 1 2 3t");
  cluster.Idle();
  EXPECT_EQ(cluster.Images(), "2 2 2 2");
  EXPECT_EQ(api::IntAt(cluster.Document(), 0, "spec", "updateStrategy", "rollingUpdate", "maxUnavailable"),
            2);
  for (const char* component : {"apiserver", "controller-manager"})
    EXPECT_TRUE(cluster.SetGates(component, {{"MaxUnavailableStatefulSet", true}}).ok());
  cluster.Idle();
  cluster.SetImage(Image(3));
  cluster.Settle();
  EXPECT_EQ(cluster.PodStates(), "0 1 2t 3t");
}

TEST(StatefulSetRollout, ARollbackBringsTheOldRevisionBack) {
  SetCluster cluster;
  cluster.CreateSet(2);
  cluster.Idle();
  const std::string first = cluster.Status()["updateRevision"];
  cluster.SetImage(Image(2));
  cluster.Idle();
  const std::string second = cluster.Status()["updateRevision"];
  EXPECT_THAT(cluster.Revisions(), ElementsAre(first, second));
  // What `kubectl rollout undo` sends.
  const api::ObjectPtr revision = cluster.Get("controllerrevisions", "default", first);
  cluster.Must(cluster.Patch("statefulsets", {"default", "web"}, revision->Parse()["data"]));
  cluster.Idle();
  EXPECT_EQ(cluster.Images(), "1 1");
  EXPECT_EQ(cluster.Status()["updateRevision"], first);
  EXPECT_THAT(cluster.Revisions(), ElementsAre(second, first));
  EXPECT_EQ(api::IntAt(*cluster.Get("controllerrevisions", "default", first)->Document(), 0, "revision"), 3);
}

TEST(StatefulSetRollout, TheHistoryHasALimit) {
  SetCluster cluster;
  cluster.CreateSet(1, {{"revisionHistoryLimit", 2}});
  cluster.Idle();
  std::vector<std::string> all = {cluster.Status()["updateRevision"]};
  for (int i = 2; i <= 5; ++i) {
    cluster.SetImage(Image(i));
    cluster.Idle();
    all.push_back(cluster.Status()["updateRevision"]);
  }
  EXPECT_EQ(cluster.Revisions(), Since(all, 2));  // the live one and two others
  cluster.PatchSpec({{"revisionHistoryLimit", 0}});
  cluster.Idle();
  EXPECT_EQ(cluster.Revisions(), Since(all, 4));
}

// As in Kubernetes, a pod that never becomes ready stops an ordered set, also when the template is repaired:
// the user deletes the pod.
TEST(StatefulSetRollout, ABrokenPodStopsAnOrderedSet) {
  SetCluster cluster;
  cluster.CreateSet(3);
  cluster.Idle();
  Json broken = {{"metadata", {{"annotations", {{"terrarium.dev/hold", "ready"}}}}}};
  cluster.PatchSpec({{"template", broken}});
  cluster.Idle();
  EXPECT_EQ(cluster.PodStates(), "0 1 2n");
  broken["metadata"]["annotations"]["terrarium.dev/hold"] = nullptr;
  cluster.PatchSpec({{"template", broken}});
  cluster.Idle();
  EXPECT_EQ(cluster.PodStates(), "0 1 2n");
  cluster.Must(cluster.Delete("pods", {"default", "web-2"}));
  cluster.Idle();
  EXPECT_EQ(cluster.PodStates(), "0 1 2");
  EXPECT_EQ(cluster.Status()["currentRevision"], cluster.Status()["updateRevision"]);
}

TEST(StatefulSetRollout, ABrokenPodOfAParallelSetIsReplaced) {
  SetCluster cluster;
  cluster.CreateSet(3, {{"podManagementPolicy", "Parallel"}});
  cluster.Idle();
  Json broken = {{"metadata", {{"annotations", {{"terrarium.dev/hold", "ready"}}}}}};
  cluster.PatchSpec({{"template", broken}});
  cluster.Idle();
  EXPECT_EQ(cluster.PodStates(), "0 1 2n");
  broken["metadata"]["annotations"]["terrarium.dev/hold"] = nullptr;
  cluster.PatchSpec({{"template", broken}});
  cluster.Idle();
  EXPECT_EQ(cluster.PodStates(), "0 1 2");
}

// Scaling goes on before the update does.
TEST(StatefulSetRollout, ScalesDuringAnUpdate) {
  SetCluster cluster;
  cluster.CreateSet(3, {}, {{"ready-delay", "10s"}});
  cluster.Idle();
  cluster.SetImage(Image(2));
  cluster.Settle();
  cluster.ScaleTo(5);
  cluster.Advance(11s);
  EXPECT_EQ(cluster.Images(), "1 1 2 2");
  cluster.Idle();
  EXPECT_EQ(cluster.Images(), "2 2 2 2 2");
  cluster.SetImage(Image(3));
  cluster.ScaleTo(2);
  cluster.Idle();
  EXPECT_EQ(cluster.Images(), "3 3");
}

TEST(StatefulSetRollout, MetricsOfMaxUnavailable) {
  SetCluster cluster({.feature_gates = "MaxUnavailableStatefulSet=true", .nodes = 2});
  cluster.CreateSet(4, Rolling({{"maxUnavailable", "50%"}}));
  cluster.Idle();
  apiserver::Request request;
  request.method = "GET";
  request.path = "/metrics";
  const std::string text = cluster.Serve(std::move(request)).body;
  EXPECT_THAT(text,
              testing::ContainsRegex("statefulset_controller_statefulset_max_unavailable\\{[^}]*\\} 2\n"));
  EXPECT_THAT(
      text, testing::ContainsRegex("statefulset_controller_statefulset_unavailable_replicas\\{[^}]*\\} 0\n"));
}

}  // namespace
}  // namespace terrarium::controllers_testing
