// The results of kube-controller-manager 1.36.4 in eight situations: the whole status, the conditions in
// their order, labels, annotations, owners, generations and the events. Terrarium must produce the same.

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenarios/situation.h"

namespace terrarium::scenarios {
namespace {

using api::Json;
using Lines = std::set<std::string>;

const Json kLabels = {{"app", "x"}};
const std::string kAvailable =
    "Available=True MinimumReplicasAvailable: Deployment has minimum availability.";
const std::string kUnavailable =
    "Available=False MinimumReplicasUnavailable: Deployment does not have minimum availability.";

Json Template(const std::string& image) {
  return {{"metadata", {{"labels", kLabels}}},
          {"spec", {{"containers", Json::array({{{"name", "c"}, {"image", image}}})}}}};
}

Json DeploymentSpec(int replicas) {
  return {
      {"replicas", replicas}, {"selector", {{"matchLabels", kLabels}}}, {"template", Template("nginx:1")}};
}

std::string Progressed(const std::string& set) {
  return "Progressing=True NewReplicaSetAvailable: ReplicaSet \"" + set + "\" has successfully progressed.";
}

Json Owner(const std::string& kind, const std::string& name) {
  return {{"apiVersion", "apps/v1"},
          {"kind", kind},
          {"name", name},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

struct SetFigures {
  int generation = 1;
  int desired = 2;
  int max = 3;
  std::string revision = "1";
  std::string history = {};
};

// A ReplicaSet of the Deployment d, without its status.
Json SetOf(const std::string& hash, const SetFigures& figures, Json status) {
  const std::string prefix = "deployment.kubernetes.io/";
  Json annotations = {{prefix + "desired-replicas", std::to_string(figures.desired)},
                      {prefix + "max-replicas", std::to_string(figures.max)},
                      {prefix + "revision", figures.revision}};
  if (!figures.history.empty()) annotations[prefix + "revision-history"] = figures.history;
  status["observedGeneration"] = figures.generation;
  return {{"generation", figures.generation},
          {"labels", {{"app", "x"}, {"pod-template-hash", hash}}},
          {"annotations", annotations},
          {"owners", Json::array({Owner("Deployment", "d")})},
          {"status", status}};
}

Json DeploymentOf(int generation, const std::string& revision, Json status,
                  std::vector<std::string> conditions) {
  status["observedGeneration"] = generation;
  return {{"generation", generation},
          {"annotations", {{"deployment.kubernetes.io/revision", revision}}},
          {"status", status},
          {"conditions", conditions}};
}

// The status of a Deployment whose pods all run.
Json AllWell(int pods) {
  return {{"replicas", pods},
          {"updatedReplicas", pods},
          {"readyReplicas", pods},
          {"availableReplicas", pods},
          {"terminatingReplicas", 0}};
}

// The status of such a ReplicaSet.
Json FullSet(int pods) {
  return {{"replicas", pods},
          {"fullyLabeledReplicas", pods},
          {"readyReplicas", pods},
          {"availableReplicas", pods},
          {"terminatingReplicas", 0}};
}
const Json kEmptySet = {{"replicas", 0}, {"terminatingReplicas", 0}};

std::string Scaled(const std::string& how) {
  return "Deployment Normal ScalingReplicaSet: Scaled " + how + " (deployment-controller)";
}
std::string Created(const std::string& pods) {
  return "ReplicaSet Normal SuccessfulCreate: Created pod: " + pods + " (replicaset-controller)";
}
std::string Deleted(const std::string& pods) {
  return "ReplicaSet Normal SuccessfulDelete: Deleted pod: " + pods + " (replicaset-controller)";
}

void ExpectPods(Situation& situation, std::size_t count, const std::string& set, const Json& labels) {
  std::vector<Json> pods = situation.All("pods");
  EXPECT_EQ(pods.size(), count);
  for (Json& pod : pods) {
    EXPECT_EQ(pod["generateName"], set + "-");
    pod["labels"].erase("topology.kubernetes.io/zone");  // the recorded nodes had none
    EXPECT_EQ(pod["labels"], labels);
    EXPECT_EQ(pod["owners"], Json::array({Owner("ReplicaSet", set)}));
    EXPECT_EQ(pod["generation"], 1);
    EXPECT_FALSE(pod.contains("finalizers"));
    EXPECT_EQ(pod["status"]["phase"], "Running");
  }
}

Json Hashed(const std::string& hash) { return {{"app", "x"}, {"pod-template-hash", hash}}; }

class DeploymentSituations : public testing::Test {
 protected:
  void CreateTwoReplicas() {
    situation_.Create("deployments", "d", DeploymentSpec(2));
    situation_.RunToTheEnd();
  }
  void Patch(const Json& spec) {
    // ReplicaSets are distinguished by their creation time.
    situation_.bed().clock().Advance(std::chrono::seconds(1));
    situation_.PatchSpec("deployments", "d", spec);
    situation_.RunToTheEnd();
  }
  void RollTo(const std::string& image) { Patch({{"template", Template(image)}}); }

  const Lines first_events_ = {Scaled("up replica set d-HASH1 from 0 to 2"), Created("d-HASH1-*")};
  Situation situation_;
};

TEST_F(DeploymentSituations, TwoReplicasComplete) {
  CreateTwoReplicas();
  EXPECT_EQ(situation_.Of("deployments", "d"),
            DeploymentOf(1, "1", AllWell(2), {kAvailable, Progressed("d-HASH1")}));
  EXPECT_THAT(situation_.All("replicasets"), testing::ElementsAre(SetOf("HASH1", {}, FullSet(2))));
  ExpectPods(situation_, 2, "d-HASH1", Hashed("HASH1"));
  EXPECT_EQ(situation_.Events(), first_events_);
}

TEST_F(DeploymentSituations, RolledToASecondImage) {
  CreateTwoReplicas();
  RollTo("nginx:2");
  EXPECT_EQ(situation_.Of("deployments", "d"),
            DeploymentOf(2, "2", AllWell(2), {kAvailable, Progressed("d-HASH2")}));
  EXPECT_THAT(situation_.All("replicasets"),
              testing::ElementsAre(SetOf("HASH1", {.generation = 3}, kEmptySet),
                                   SetOf("HASH2", {.generation = 2, .revision = "2"}, FullSet(2))));
  ExpectPods(situation_, 2, "d-HASH2", Hashed("HASH2"));
  Lines events = first_events_;
  events.insert({Scaled("up replica set d-HASH2 from 0 to 1"), Scaled("down replica set d-HASH1 from 2 to 1"),
                 Scaled("up replica set d-HASH2 from 1 to 2"), Scaled("down replica set d-HASH1 from 1 to 0"),
                 Created("d-HASH2-*"), Deleted("d-HASH1-*")});
  EXPECT_EQ(situation_.Events(), events);
}

// Back to the first image, then from two pods to one, then paused.
class ScaledDown : public DeploymentSituations {
 protected:
  ScaledDown() {
    CreateTwoReplicas();
    RollTo("nginx:2");
    RollTo("nginx:1");
    Patch({{"replicas", 1}});
  }
  void ExpectSetsAndEvents() {
    const SetFigures current{.generation = 6, .desired = 1, .max = 2, .revision = "3", .history = "1"};
    EXPECT_THAT(situation_.All("replicasets"),
                testing::ElementsAre(SetOf("HASH1", current, FullSet(1)),
                                     SetOf("HASH2", {.generation = 4, .revision = "2"}, kEmptySet)));
    ExpectPods(situation_, 1, "d-HASH1", Hashed("HASH1"));
    Lines events = first_events_;
    for (const char* set : {"d-HASH1", "d-HASH2"})
      for (const char* step : {" from 2 to 1", " from 1 to 0"})
        events.insert(Scaled(std::string("down replica set ") + set + step));
    for (const char* set : {"d-HASH1", "d-HASH2"})
      for (const char* step : {" from 0 to 1", " from 1 to 2"})
        events.insert(Scaled(std::string("up replica set ") + set + step));
    events.insert({Created("d-HASH2-*"), Deleted("d-HASH1-*"), Deleted("d-HASH2-*")});
    EXPECT_EQ(situation_.Events(), events);
  }
};

TEST_F(ScaledDown, IsComplete) {
  EXPECT_EQ(situation_.Of("deployments", "d"),
            DeploymentOf(4, "3", AllWell(1), {kAvailable, Progressed("d-HASH1")}));
  ExpectSetsAndEvents();
}

TEST_F(ScaledDown, ThenPaused) {
  Patch({{"paused", true}});
  EXPECT_EQ(situation_.Of("deployments", "d"),
            DeploymentOf(5, "3", AllWell(1),
                         {kAvailable, "Progressing=Unknown DeploymentPaused: Deployment is paused"}));
  ExpectSetsAndEvents();
}

TEST_F(DeploymentSituations, ProgressDeadlineExceeded) {
  Json spec = DeploymentSpec(2);
  spec["progressDeadlineSeconds"] = 3;
  spec["template"]["metadata"]["annotations"] = {{"terrarium.dev/never-ready", "true"}};
  situation_.Create("deployments", "d", spec);
  situation_.RunToTheEnd();
  const Json status = {
      {"replicas", 2}, {"updatedReplicas", 2}, {"unavailableReplicas", 2}, {"terminatingReplicas", 0}};
  EXPECT_EQ(situation_.Of("deployments", "d"),
            DeploymentOf(1, "1", status,
                         {kUnavailable,
                          "Progressing=False ProgressDeadlineExceeded: ReplicaSet \"d-HASH1\" has timed "
                          "out progressing."}));
  const Json set = {{"replicas", 2}, {"fullyLabeledReplicas", 2}, {"terminatingReplicas", 0}};
  EXPECT_THAT(situation_.All("replicasets"), testing::ElementsAre(SetOf("HASH1", {}, set)));
  ExpectPods(situation_, 2, "d-HASH1", Hashed("HASH1"));
  EXPECT_EQ(situation_.Events(), first_events_);
}

TEST_F(DeploymentSituations, ReadyButNotAvailable) {
  Json spec = DeploymentSpec(2);
  spec["minReadySeconds"] = 3600;
  spec["progressDeadlineSeconds"] = 7200;
  situation_.Create("deployments", "d", spec);
  situation_.bed().clock().Advance(std::chrono::minutes(1));
  const Json status = {{"replicas", 2},
                       {"updatedReplicas", 2},
                       {"readyReplicas", 2},
                       {"unavailableReplicas", 2},
                       {"terminatingReplicas", 0}};
  EXPECT_EQ(situation_.Of("deployments", "d"),
            DeploymentOf(1, "1", status,
                         {kUnavailable,
                          "Progressing=True ReplicaSetUpdated: ReplicaSet \"d-HASH1\" is progressing."}));
  const Json set = {
      {"replicas", 2}, {"fullyLabeledReplicas", 2}, {"readyReplicas", 2}, {"terminatingReplicas", 0}};
  EXPECT_THAT(situation_.All("replicasets"), testing::ElementsAre(SetOf("HASH1", {}, set)));
  EXPECT_EQ(situation_.Events(), first_events_);
}

TEST(ReplicaSetSituations, TwoReplicas) {
  Situation situation;
  situation.Create("replicasets", "r", DeploymentSpec(2));
  situation.RunToTheEnd();
  Json status = FullSet(2);
  status["observedGeneration"] = 1;
  EXPECT_EQ(situation.Of("replicasets", "r"), (Json{{"generation", 1}, {"status", status}}));
  ExpectPods(situation, 2, "r", kLabels);
  EXPECT_EQ(situation.Events(), Lines{Created("r-*")});
}

TEST(BudgetSituations, OneDisruptionAllowed) {
  Situation situation;
  situation.Create("deployments", "d", DeploymentSpec(3));
  situation.RunToTheEnd();
  situation.Create("poddisruptionbudgets", "b",
                   {{"minAvailable", 2}, {"selector", {{"matchLabels", kLabels}}}});
  situation.RunToTheEnd();
  const Json status = {{"observedGeneration", 1},
                       {"disruptionsAllowed", 1},
                       {"currentHealthy", 3},
                       {"desiredHealthy", 2},
                       {"expectedPods", 3}};
  EXPECT_EQ(situation.Of("poddisruptionbudgets", "b"),
            (Json{{"generation", 1},
                  {"status", status},
                  {"conditions", Json::array({"DisruptionAllowed=True SufficientPods: "})}}));
  EXPECT_EQ(situation.Of("deployments", "d"),
            DeploymentOf(1, "1", AllWell(3), {kAvailable, Progressed("d-HASH1")}));
  EXPECT_THAT(situation.All("replicasets"),
              testing::ElementsAre(SetOf("HASH1", {.desired = 3, .max = 4}, FullSet(3))));
  ExpectPods(situation, 3, "d-HASH1", Hashed("HASH1"));
  EXPECT_EQ(situation.Events(), (Lines{Scaled("up replica set d-HASH1 from 0 to 3"), Created("d-HASH1-*")}));
}

}  // namespace
}  // namespace terrarium::scenarios
