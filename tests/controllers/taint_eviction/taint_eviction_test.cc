#include <gtest/gtest.h>

#include "api/json_access.h"
#include "testbed/control_plane/components.h"
#include "tests/controllers/node_lifecycle/node_testing.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using testbed::Testbed;
using namespace std::chrono_literals;

constexpr const char* kMarked = "TaintManagerEviction: Marking for deletion Pod default/web";
constexpr const char* kCalledOff = "TaintManagerEviction: Cancelling deletion of Pod default/web";

// The only taints of the node, each with the effect NoExecute.
void TaintNode(Testbed& bed, const std::vector<std::string>& keys) {
  Json taints = Json::array();
  for (const std::string& key : keys) taints.push_back(Json{{"key", key}, {"effect", "NoExecute"}});
  bed.Must(bed.Patch("nodes", {"", "node-0"}, {{"spec", {{"taints", keys.empty() ? Json() : taints}}}}));
}

Json Tolerating(Json pod, const char* key, std::optional<int> seconds) {
  Json toleration = {{"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}};
  if (seconds) toleration["tolerationSeconds"] = *seconds;
  pod["spec"]["tolerations"].push_back(std::move(toleration));
  return pod;
}

// This pod takes time to stop, so that it still exists after its deletion.
Json LingeringPod() {
  Json pod = PodOn("web", "node-0");
  pod["metadata"]["annotations"]["terrarium.dev/ignore-sigterm"] = "true";
  pod["spec"]["terminationGracePeriodSeconds"] = 100'000;
  return pod;
}

// Marked or already gone: a pod that had not started when it was deleted is removed immediately.
bool IsDeleting(Testbed& bed) {
  api::ObjectPtr pod = bed.Get("pods", "default", "web");
  return pod == nullptr || pod->header().deleting;
}

TEST(TaintEviction, APodThatDoesNotTolerateTheTaintIsDeletedImmediately) {
  Testbed bed({.nodes = 1});
  bed.Must(bed.Create("pods", "default", LingeringPod()));
  bed.clock().Settle();
  EXPECT_FALSE(IsDeleting(bed));
  TaintNode(bed, {"maintenance"});
  bed.clock().Settle();
  EXPECT_TRUE(IsDeleting(bed));
  EXPECT_EQ(ConditionStatus(PodOf(bed, "web"), "DisruptionTarget"), "True");
  EXPECT_TRUE(EventsAbout(bed, "web").contains(kMarked));
  EXPECT_NE(
      bed.control_plane().components().MetricsText().find("taint_eviction_controller_pod_deletions_total 1"),
      std::string::npos);
}

TEST(TaintEviction, WithoutTheGateThereIsNoCondition) {
  Testbed bed({.feature_gates = "PodDisruptionConditions=false", .nodes = 1});
  bed.Must(bed.Create("pods", "default", LingeringPod()));
  bed.clock().Settle();
  TaintNode(bed, {"maintenance"});
  bed.clock().Settle();
  EXPECT_TRUE(IsDeleting(bed));
  EXPECT_EQ(ConditionStatus(PodOf(bed, "web"), "DisruptionTarget"), "");
}

TEST(TaintEviction, APodIsDeletedWhenItsTolerationTimeIsOver) {
  Testbed bed({.nodes = 1});
  bed.Must(bed.Create("pods", "default", Tolerating(LingeringPod(), "maintenance", 90)));
  bed.clock().Settle();
  TaintNode(bed, {"maintenance"});
  bed.clock().Advance(89s);
  EXPECT_FALSE(IsDeleting(bed));
  bed.clock().Advance(1s);
  EXPECT_TRUE(IsDeleting(bed));
}

TEST(TaintEviction, APodThatToleratesIndefinitelyStays) {
  Testbed bed({.nodes = 1});
  bed.Must(bed.Create("pods", "default", Tolerating(LingeringPod(), "maintenance", std::nullopt)));
  bed.clock().Settle();
  TaintNode(bed, {"maintenance"});
  bed.clock().Advance(1h);
  EXPECT_FALSE(IsDeleting(bed));
  EXPECT_FALSE(EventsAbout(bed, "web").contains(kMarked));
}

TEST(TaintEviction, APodBoundToATaintedNodeIsDeleted) {
  Testbed bed({.nodes = 1});
  TaintNode(bed, {"maintenance"});
  bed.clock().Settle();
  bed.Must(bed.Create("pods", "default", LingeringPod()));
  bed.clock().Settle();
  EXPECT_TRUE(IsDeleting(bed));
}

TEST(TaintEviction, ARemovedTaintCancelsTheDeletion) {
  Testbed bed({.nodes = 1});
  bed.Must(bed.Create("pods", "default", Tolerating(LingeringPod(), "maintenance", 90)));
  bed.clock().Settle();
  TaintNode(bed, {"maintenance"});
  bed.clock().Advance(60s);
  TaintNode(bed, {});
  bed.clock().Advance(10min);
  EXPECT_FALSE(IsDeleting(bed));
  EXPECT_TRUE(EventsAbout(bed, "web").contains(kCalledOff));
}

TEST(TaintEviction, ATolerationAddedInTimeCancelsTheDeletion) {
  Testbed bed({.nodes = 1});
  bed.Must(bed.Create("pods", "default", Tolerating(LingeringPod(), "maintenance", 90)));
  bed.clock().Settle();
  TaintNode(bed, {"maintenance"});
  bed.clock().Advance(60s);
  // Tolerations can only be added. One for everything, in front of the others, takes precedence.
  Json tolerations = Json::array({Json{{"operator", "Exists"}}});
  const Json pod = PodOf(bed, "web");
  for (const Json& existing : pod["spec"]["tolerations"]) tolerations.push_back(existing);
  bed.Must(bed.Patch("pods", {"default", "web"}, {{"spec", {{"tolerations", tolerations}}}}));
  bed.clock().Advance(10min);
  EXPECT_FALSE(IsDeleting(bed));
  EXPECT_TRUE(EventsAbout(bed, "web").contains(kCalledOff));
}

TEST(TaintEviction, AScheduledDeletionKeepsItsTime) {
  Testbed bed({.nodes = 1});
  bed.Must(
      bed.Create("pods", "default", Tolerating(Tolerating(LingeringPod(), "maintenance", 90), "fire", 10)));
  bed.clock().Settle();
  TaintNode(bed, {"maintenance"});
  bed.clock().Advance(30s);
  TaintNode(bed, {"maintenance", "fire"});
  bed.clock().Advance(30s);
  EXPECT_FALSE(IsDeleting(bed));
  bed.clock().Advance(31s);
  EXPECT_TRUE(IsDeleting(bed));
}

TEST(TaintEviction, APodThatGoesByItselfIsNotWaitedFor) {
  Testbed bed({.nodes = 1});
  bed.Must(bed.Create("pods", "default", Tolerating(PodOn("web", "node-0"), "maintenance", 3600)));
  bed.clock().Settle();
  TaintNode(bed, {"maintenance"});
  bed.clock().Settle();
  bed.Must(bed.Delete("pods", {"default", "web"}));
  const api::Time start = bed.Now();
  EXPECT_LT(bed.clock().RunUntilIdle(2h).now, start + 10min);
  EXPECT_EQ(bed.Get("pods", "default", "web"), nullptr);
  EXPECT_TRUE(EventsAbout(bed, "web").contains(kCalledOff));
}

}  // namespace
}  // namespace terrarium::controllers
