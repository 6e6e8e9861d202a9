// The results of Deployments. The first six are situations recorded from kube-controller-manager 1.36.4: the
// same conditions in the same order, reasons, messages, annotations, generations and events.

#include "controllers/deployment/deployment_controller.h"

#include <gtest/gtest.h>

#include "api/json_access.h"
#include "controllers/deployment/internal/annotations.h"
#include "tests/controllers/deployment/deployment_testing.h"

namespace terrarium::controllers::deployment {
namespace {

using api::Json;
using api::StringAt;
using namespace std::chrono_literals;

using Texts = std::vector<std::string>;

std::string NameOf(const Json& set) { return std::string(StringAt(set, "metadata", "name")); }

Json WithoutConditions(Json status) {
  status.erase("conditions");
  return status;
}

Json SetAnnotations(const char* desired, const char* max, const char* revision) {
  return {{std::string(kDesiredReplicas), desired},
          {std::string(kMaxReplicas), max},
          {std::string(kRevision), revision}};
}

class Recorded : public testing::Test {
 protected:
  void RunTwoReplicas() {
    cluster_.Create(2);
    cluster_.RunToTheEnd();
  }
  std::string Scaled(const char* way, const Json& set, int from, int to) {
    return std::string("Scaled ") + way + " replica set " + NameOf(set) + " from " + std::to_string(from) +
           " to " + std::to_string(to);
  }
  WebCluster cluster_;
};

TEST_F(Recorded, TwoReplicasComplete) {
  RunTwoReplicas();
  EXPECT_EQ(cluster_.Conditions(),
            Texts({"Available=True MinimumReplicasAvailable", "Progressing=True NewReplicaSetAvailable"}));
  ASSERT_EQ(cluster_.Sets().size(), 1u);
  const Json set = cluster_.Sets()[0];
  EXPECT_EQ(cluster_.ConditionMessage("Available"), "Deployment has minimum availability.");
  EXPECT_EQ(cluster_.ConditionMessage("Progressing"),
            "ReplicaSet \"" + NameOf(set) + "\" has successfully progressed.");
  EXPECT_EQ(WithoutConditions(cluster_.Status()), (Json{{"observedGeneration", 1},
                                                        {"replicas", 2},
                                                        {"updatedReplicas", 2},
                                                        {"readyReplicas", 2},
                                                        {"availableReplicas", 2},
                                                        {"terminatingReplicas", 0}}));
  EXPECT_EQ(cluster_.Document()["metadata"]["generation"], 1);
  EXPECT_EQ(cluster_.Document()["metadata"]["annotations"], (Json{{std::string(kRevision), "1"}}));
  EXPECT_EQ(set["metadata"]["annotations"], SetAnnotations("2", "3", "1"));
  EXPECT_EQ(set["metadata"]["generation"], 1);
  std::string hash(StringAt(set, "metadata", "labels", "pod-template-hash"));
  EXPECT_EQ(NameOf(set), "web-" + hash);
  EXPECT_EQ(StringAt(set, "spec", "selector", "matchLabels", "pod-template-hash"), hash);
  EXPECT_EQ(StringAt(set, "spec", "template", "metadata", "labels", "pod-template-hash"), hash);
  EXPECT_EQ(set["metadata"]["ownerReferences"].size(), 1u);
  EXPECT_EQ(cluster_.Events("ScalingReplicaSet"), std::multiset<std::string>({Scaled("up", set, 0, 2)}));
}

TEST_F(Recorded, RolledToASecondImage) {
  RunTwoReplicas();
  cluster_.SetImage("web:2");
  cluster_.RunToTheEnd();
  ASSERT_EQ(cluster_.Sizes(), "0 2");
  const Json first = cluster_.Sets()[0], second = cluster_.Sets()[1];
  EXPECT_EQ(cluster_.Conditions(),
            Texts({"Available=True MinimumReplicasAvailable", "Progressing=True NewReplicaSetAvailable"}));
  EXPECT_EQ(cluster_.ConditionMessage("Progressing"),
            "ReplicaSet \"" + NameOf(second) + "\" has successfully progressed.");
  EXPECT_EQ(cluster_.Document()["metadata"]["generation"], 2);
  EXPECT_EQ(cluster_.Annotation(cluster_.Document(), kRevision), "2");
  EXPECT_EQ(first["metadata"]["annotations"], SetAnnotations("2", "3", "1"));
  EXPECT_EQ(second["metadata"]["annotations"], SetAnnotations("2", "3", "2"));
  EXPECT_EQ(first["metadata"]["generation"], 3);
  EXPECT_EQ(second["metadata"]["generation"], 2);
  EXPECT_EQ(cluster_.Events("ScalingReplicaSet"),
            std::multiset<std::string>({Scaled("up", first, 0, 2), Scaled("up", second, 0, 1),
                                        Scaled("down", first, 2, 1), Scaled("up", second, 1, 2),
                                        Scaled("down", first, 1, 0)}));
}

TEST_F(Recorded, UndoneThenScaledDownThenPaused) {
  RunTwoReplicas();
  cluster_.SetImage("web:2");
  cluster_.RunToTheEnd();
  cluster_.SetImage("web:1");
  cluster_.RunToTheEnd();
  cluster_.ScaleTo(1);
  cluster_.RunToTheEnd();
  ASSERT_EQ(cluster_.Sizes(), "0 1");
  const Json second = cluster_.Sets()[0], first = cluster_.Sets()[1];
  Json first_annotations = SetAnnotations("1", "2", "3");
  first_annotations[std::string(kRevisionHistory)] = "1";
  EXPECT_EQ(first["metadata"]["annotations"], first_annotations);
  EXPECT_EQ(second["metadata"]["annotations"], SetAnnotations("2", "3", "2"));
  EXPECT_EQ(first["metadata"]["generation"], 6);
  EXPECT_EQ(second["metadata"]["generation"], 4);
  EXPECT_EQ(cluster_.Annotation(cluster_.Document(), kRevision), "3");
  EXPECT_EQ(cluster_.Document()["metadata"]["generation"], 4);
  const std::multiset<std::string> events = {Scaled("up", first, 0, 2),    Scaled("up", second, 0, 1),
                                             Scaled("down", first, 2, 1),  Scaled("up", second, 1, 2),
                                             Scaled("down", first, 1, 0),  Scaled("up", first, 0, 1),
                                             Scaled("down", second, 2, 1), Scaled("up", first, 1, 2),
                                             Scaled("down", second, 1, 0), Scaled("down", first, 2, 1)};
  EXPECT_EQ(cluster_.Events("ScalingReplicaSet"), events);
  EXPECT_EQ(cluster_.Conditions(),
            Texts({"Available=True MinimumReplicasAvailable", "Progressing=True NewReplicaSetAvailable"}));

  cluster_.PatchSpec({{"paused", true}});
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.Conditions(),
            Texts({"Available=True MinimumReplicasAvailable", "Progressing=Unknown DeploymentPaused"}));
  EXPECT_EQ(cluster_.ConditionMessage("Progressing"), "Deployment is paused");
  EXPECT_EQ(WithoutConditions(cluster_.Status()), (Json{{"observedGeneration", 5},
                                                        {"replicas", 1},
                                                        {"updatedReplicas", 1},
                                                        {"readyReplicas", 1},
                                                        {"availableReplicas", 1},
                                                        {"terminatingReplicas", 0}}));
  EXPECT_EQ(cluster_.Events("ScalingReplicaSet"), events);
}

TEST_F(Recorded, ProgressDeadlineExceeded) {
  cluster_.Create(2, {{"progressDeadlineSeconds", 3}}, {{"never-ready", "true"}});
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.Conditions(), Texts({"Available=False MinimumReplicasUnavailable",
                                          "Progressing=False ProgressDeadlineExceeded"}));
  EXPECT_EQ(cluster_.ConditionMessage("Progressing"),
            "ReplicaSet \"" + NameOf(cluster_.Sets()[0]) + "\" has timed out progressing.");
  EXPECT_EQ(cluster_.ConditionMessage("Available"), "Deployment does not have minimum availability.");
  EXPECT_EQ(WithoutConditions(cluster_.Status()), (Json{{"observedGeneration", 1},
                                                        {"replicas", 2},
                                                        {"updatedReplicas", 2},
                                                        {"unavailableReplicas", 2},
                                                        {"terminatingReplicas", 0}}));
}

TEST_F(Recorded, ReadyButNotAvailable) {
  cluster_.Create(2, {{"minReadySeconds", 3600}, {"progressDeadlineSeconds", 7200}});
  cluster_.Advance(1min);
  EXPECT_EQ(cluster_.Conditions(),
            Texts({"Available=False MinimumReplicasUnavailable", "Progressing=True ReplicaSetUpdated"}));
  EXPECT_EQ(cluster_.ConditionMessage("Progressing"),
            "ReplicaSet \"" + NameOf(cluster_.Sets()[0]) + "\" is progressing.");
  EXPECT_EQ(WithoutConditions(cluster_.Status()), (Json{{"observedGeneration", 1},
                                                        {"replicas", 2},
                                                        {"updatedReplicas", 2},
                                                        {"readyReplicas", 2},
                                                        {"unavailableReplicas", 2},
                                                        {"terminatingReplicas", 0}}));
  EXPECT_EQ(cluster_.Sets()[0]["spec"]["minReadySeconds"], 3600);
  cluster_.Advance(1h);
  EXPECT_TRUE(cluster_.Complete());
}

// TestDeploymentAvailableCondition of Kubernetes, with a change of minReadySeconds in between.
TEST(DeploymentController, MinReadySecondsReachTheReplicaSet) {
  WebCluster cluster;
  cluster.Create(3, {{"minReadySeconds", 300}});
  cluster.Advance(10s);
  EXPECT_EQ(cluster.Condition("Available"), "False MinimumReplicasUnavailable");
  cluster.PatchSpec({{"minReadySeconds", 1}});
  cluster.RunToTheEnd();
  EXPECT_EQ(cluster.Sets()[0]["spec"]["minReadySeconds"], 1);
  EXPECT_EQ(cluster.Condition("Available"), "True MinimumReplicasAvailable");
  EXPECT_EQ(cluster.Counter("availableReplicas"), 3);
}

// TestDeploymentRollingUpdate of Kubernetes: both surge and unavailability as percentages.
TEST(DeploymentController, AvailabilityIsKeptDuringARollout) {
  WebCluster cluster;
  cluster.Create(20, {{"minReadySeconds", 4}});
  cluster.RunToTheEnd();
  cluster.SetImage("web:2");
  std::int64_t least = 20, most = 0;
  auto watch = [&] {
    least = std::min(least, cluster.Counter("availableReplicas"));
    most = std::max(most, cluster.Counter("replicas"));
    return cluster.Complete() && cluster.Sizes() == "0 20";
  };
  EXPECT_EQ(cluster.bed().clock().RunUntil(watch, 10min).why, testbed::RunOutcome::Why::kDone);
  EXPECT_EQ(least, 15);
  EXPECT_EQ(most, 25);
}

TEST(DeploymentController, PodsThatWereNeverAvailableDoNotHoldUpARollout) {
  WebCluster cluster;
  cluster.Create(4, {{"strategy", {{"rollingUpdate", {{"maxSurge", 0}, {"maxUnavailable", 1}}}}}},
                 {{"never-ready", "true"}});
  cluster.Advance(1min);
  cluster.SetImage("web:2", {{"ready-delay", "5s"}});
  cluster.Settle();
  EXPECT_EQ(cluster.Sizes(), "3 1");
  cluster.RunToTheEnd();
  EXPECT_EQ(cluster.Sizes(), "0 4");
  EXPECT_TRUE(cluster.Complete());
}

TEST(DeploymentController, AFailingTemplateDoesNotCostAvailability) {
  WebCluster cluster;
  cluster.Create(10, {{"strategy", {{"rollingUpdate", {{"maxSurge", 3}, {"maxUnavailable", 2}}}}}});
  cluster.RunToTheEnd();
  cluster.SetImage("web:2", {{"never-ready", "true"}});
  cluster.RunToTheEnd();
  EXPECT_EQ(cluster.Sizes(), "8 5");
  EXPECT_EQ(cluster.Condition("Progressing"), "False ProgressDeadlineExceeded");
  cluster.SetImage("web:1", Json::object());
  cluster.RunToTheEnd();
  EXPECT_EQ(cluster.Counter("availableReplicas"), 10);
  EXPECT_TRUE(cluster.Complete());
}

TEST(DeploymentController, ADeploymentOfNoPodsIsComplete) {
  WebCluster cluster;
  cluster.Create(0);
  cluster.RunToTheEnd();
  EXPECT_EQ(cluster.Sizes(), "0");
  EXPECT_TRUE(cluster.Complete());
  EXPECT_TRUE(cluster.Events("ScalingReplicaSet").empty());
  cluster.ScaleTo(2);
  cluster.RunToTheEnd();
  EXPECT_EQ(cluster.Counter("availableReplicas"), 2);
}

// TestDeploymentScaleSubresource of Kubernetes.
TEST(DeploymentController, TheScaleSubresourceScales) {
  WebCluster cluster;
  cluster.Create(2);
  cluster.RunToTheEnd();
  Json scale = {{"spec", {{"replicas", 4}}}};
  cluster.bed().Must(cluster.bed().Patch("deployments", {"default", "web"}, scale, "scale"));
  cluster.RunToTheEnd();
  EXPECT_EQ(cluster.Counter("availableReplicas"), 4);
}

TEST(DeploymentController, WithoutADeadlineThereIsNoProgressingCondition) {
  WebCluster cluster;
  cluster.Create(2, {{"progressDeadlineSeconds", 2147483647}}, {{"never-ready", "true"}});
  cluster.RunToTheEnd();
  EXPECT_EQ(cluster.Conditions(), Texts({"Available=False MinimumReplicasUnavailable"}));
}

TEST(DeploymentController, ADeletedDeploymentLeavesNothingBehind) {
  WebCluster cluster;
  cluster.Create(3);
  cluster.RunToTheEnd();
  cluster.bed().Must(cluster.bed().Delete("deployments", {"default", "web"}));
  cluster.RunToTheEnd();
  EXPECT_TRUE(cluster.Sets().empty());
  EXPECT_EQ(cluster.Pods(), 0);
}

// A Deployment deleted in the foreground exists while its pods terminate, and creates no new ones.
TEST(DeploymentController, ADeploymentBeingDeletedOnlyUpdatesItsStatus) {
  WebCluster cluster;
  cluster.Create(3, {}, {{"stop-after", "20s"}});
  cluster.RunToTheEnd();
  cluster.bed().Must(
      cluster.bed().Delete("deployments", {"default", "web"}, {.propagation_policy = "Foreground"}));
  cluster.Advance(1s);
  ASSERT_NE(cluster.bed().Get("deployments", "default", "web"), nullptr);
  cluster.ScaleTo(5);
  cluster.SetImage("web:2");
  cluster.Advance(1s);
  EXPECT_EQ(cluster.Sizes(), "3");
  EXPECT_EQ(cluster.Counter("observedGeneration"), cluster.Document()["metadata"]["generation"]);
  cluster.RunToTheEnd();
  EXPECT_EQ(cluster.bed().Get("deployments", "default", "web"), nullptr);
}

TEST(DeploymentController, EveryReplicaSetWrittenHasItsReason) {
  WebCluster cluster;
  cluster.Create(2, {{"revisionHistoryLimit", 0}});
  cluster.RunToTheEnd();
  cluster.SetImage("web:2");
  cluster.RunToTheEnd();
  std::map<std::string, int> actions;
  for (const WhyRecord& record : cluster.Why()) {
    ++actions[record.action];
    EXPECT_EQ(record.controller, "deployment-controller");
    EXPECT_FALSE(record.rule.empty());
    EXPECT_GT(record.revision, 0);
    ASSERT_NE(record.saw, nullptr);
    EXPECT_EQ((*record.saw)["replicas"], 2);
  }
  EXPECT_EQ(actions, (std::map<std::string, int>{{"create", 2}, {"scale", 3}, {"delete", 1}}));
}

// The number of a Deployment's writes does not grow with the number of pod events.
TEST(DeploymentController, ManyPodsTakeFewWrites) {
  WebCluster cluster(kNoPolicy, {.nodes = 10});
  cluster.Create(300);
  const std::int64_t before = cluster.bed().control_plane().store().CurrentRevision();
  cluster.RunToTheEnd();
  ASSERT_TRUE(cluster.Complete());
  storage::WatchQuery query;
  query.resource = "deployments";
  query.from_revision = before;
  query.buffer_events = 100'000;
  auto watch = cluster.bed().control_plane().store().StartWatch(query);
  std::vector<storage::Event> events;
  (*watch)->Take(100'000, events);
  EXPECT_LT(events.size(), 100u);
}

}  // namespace
}  // namespace terrarium::controllers::deployment
