// The choice of pods in a scale-down of a ReplicaSet, in a whole cluster.

#include <algorithm>
#include <iterator>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/controllers/replicaset/replica_testing.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ObjectPtr;
using controllers_testing::kDeletionCost;
using controllers_testing::Pod;
using controllers_testing::ReplicaBed;
using controllers_testing::ReplicaSet;
using testing::ElementsAre;
using namespace std::chrono_literals;

// p0, p1, ..., each three times as old as the next, so that their ages differ on a logarithmic scale.
void MakePodsOverTime(ReplicaBed& bed, const std::vector<const char*>& costs) {
  api::Duration gap = 3min;
  for (std::size_t i = 1; i < costs.size(); ++i) gap *= 3;
  for (std::size_t i = 0; i < costs.size(); ++i, gap /= 3) {
    Json pod = Pod("p" + std::to_string(i), {{"app", "web"}});
    if (costs[i] != nullptr) pod["metadata"]["annotations"] = {{kDeletionCost, costs[i]}};
    bed.Must(bed.Create("pods", "default", pod));
    bed.clock().Advance(gap);
  }
}

// The deleted pods in order, as the owner is scaled down to 0 one by one.
std::vector<std::string> OrderOfDeletion(ReplicaBed& bed, const ObjectPtr& owner) {
  std::vector<std::string> order;
  std::vector<std::string> before = bed.PodNamesOf(owner);
  while (!before.empty()) {
    bed.Scale("replicasets", "web", static_cast<int>(before.size()) - 1);
    bed.Settle();
    std::vector<std::string> after = bed.PodNamesOf(owner);
    std::set_difference(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(order));
    if (after.size() + 1 != before.size()) return {"not one at a time"};
    before = after;
  }
  return order;
}

// `costs`: oldest pod first.
std::vector<std::string> OrderWith(const std::vector<const char*>& costs, const char* gates = "") {
  ReplicaBed bed({.feature_gates = gates, .nodes = 1});
  MakePodsOverTime(bed, costs);
  ObjectPtr owner =
      bed.Must(bed.Create("replicasets", "default", ReplicaSet("web", static_cast<int>(costs.size()))));
  bed.Settle();
  return OrderOfDeletion(bed, owner);
}

// KEP-2255, integration: replicas with lower pod-deletion-cost are deleted before replicas with higher
// pod-deletion-cost. An absent cost is 0, and negative costs come before it.
TEST(PodDeletionCost, ReplicasWithLowerCostAreDeletedBeforeReplicasWithHigherCost) {
  EXPECT_THAT(OrderWith({"-10", nullptr, "100", "5"}), ElementsAre("p0", "p1", "p3", "p2"));
  EXPECT_THAT(OrderWith({"2147483647", "-2147483648", "-1", "1"}), ElementsAre("p1", "p2", "p3", "p0"));
}

// KEP-2255, integration: no behavior change when pod-deletion-cost is not set or all pods have the same.
TEST(PodDeletionCost, NoCostAndTheSameCostLeaveTheOrderAsItIs) {
  EXPECT_THAT(OrderWith({nullptr, nullptr, nullptr, nullptr}), ElementsAre("p3", "p2", "p1", "p0"));
  EXPECT_THAT(OrderWith({"7", "7", "7", "7"}), ElementsAre("p3", "p2", "p1", "p0"));
  EXPECT_THAT(OrderWith({"0", nullptr, "0", nullptr}), ElementsAre("p3", "p2", "p1", "p0"));
}

// KEP-2255: with the gate off costs are ignored.
TEST(PodDeletionCost, GateOffIgnoresTheCost) {
  EXPECT_THAT(OrderWith({"-10", nullptr, "100", "5"}, "PodDeletionCost=false"),
              ElementsAre("p3", "p2", "p1", "p0"));
}

// KEP-2255: a pod that is not ready is deleted before a ready one, whatever their costs.
TEST(PodDeletionCost, OnlyDecidesAmongPodsThatAreAlikeUpToTheirReadiness) {
  ReplicaBed bed({.nodes = 1});
  Json ready = Pod("ready", {{"app", "web"}});
  ready["metadata"]["annotations"] = {{kDeletionCost, "-100"}};
  Json not_ready = Pod("not-ready", {{"app", "web"}});
  not_ready["metadata"]["annotations"] = {{kDeletionCost, "100"}, {"terrarium.dev/hold", "ready"}};
  bed.Must(bed.Create("pods", "default", ready));
  bed.Must(bed.Create("pods", "default", not_ready));
  ObjectPtr owner = bed.Must(bed.Create("replicasets", "default", ReplicaSet("web", 2)));
  bed.Settle();
  EXPECT_THAT(OrderOfDeletion(bed, owner), ElementsAre("not-ready", "ready"));
}

TEST(PodDeletionCost, TheCostAtTheTimeOfTheScaleDownCounts) {
  ReplicaBed bed({.nodes = 1});
  MakePodsOverTime(bed, {"1", "2", "3"});
  ObjectPtr owner = bed.Must(bed.Create("replicasets", "default", ReplicaSet("web", 3)));
  bed.Settle();
  bed.Must(bed.Patch("pods", {"default", "p0"}, {{"metadata", {{"annotations", {{kDeletionCost, "4"}}}}}}));
  bed.Must(
      bed.Patch("pods", {"default", "p2"}, {{"metadata", {{"annotations", {{kDeletionCost, nullptr}}}}}}));
  bed.Settle();
  EXPECT_THAT(OrderOfDeletion(bed, owner), ElementsAre("p2", "p1", "p0"));
}

TEST(ScaleDown, AnUnscheduledPodGoesFirst) {
  ReplicaBed bed({.nodes = 1});
  Json unscheduled = Pod("unscheduled", {{"app", "web"}});
  unscheduled["metadata"]["annotations"] = {{kDeletionCost, "100"}};
  unscheduled["spec"]["nodeSelector"] = {{"nowhere", "true"}};
  bed.Must(bed.Create("pods", "default", unscheduled));
  bed.clock().Advance(1h);
  bed.Must(bed.Create("pods", "default", Pod("young", {{"app", "web"}})));
  ObjectPtr owner = bed.Must(bed.Create("replicasets", "default", ReplicaSet("web", 2)));
  bed.clock().Advance(1min);
  bed.Scale("replicasets", "web", 1);
  bed.clock().Advance(1min);
  EXPECT_THAT(bed.PodNamesOf(owner), ElementsAre("young"));
}

// Of three pods, two old ones on one node and a young one on the other, the two that are left.
std::vector<std::string> LeftOfPodsOnNodes(bool controlled) {
  ReplicaBed bed({.nodes = 2});
  const std::pair<const char*, const char*> pods[] = {
      {"old-0", "node-0"}, {"old-1", "node-0"}, {"young", "node-1"}};
  api::Duration gap = 27min;
  for (const auto& [name, node] : pods) {
    Json pod = Pod(name, {{"app", "web"}});
    pod["spec"]["nodeName"] = node;
    bed.Must(bed.Create("pods", "default", pod));
    bed.clock().Advance(gap);
    gap /= 3;
  }
  const Json set = ReplicaSet("web", 3);
  ObjectPtr owner = bed.Must(bed.Create("replicasets", "default", controlled ? bed.Controlled(set) : set));
  bed.Settle();
  bed.Scale("replicasets", "web", 2);
  bed.Settle();
  return bed.PodNamesOf(owner);
}

TEST(ScaleDown, NodesWithMorePodsOfTheOwnerGiveTheirsFirst) {
  EXPECT_THAT(LeftOfPodsOnNodes(true), ElementsAre("old-0", "young"));
}

// As in Kubernetes: related pods are those of ReplicaSets with the same controller.
TEST(ScaleDown, WithoutAControllerTheNodesDoNotCount) {
  EXPECT_THAT(LeftOfPodsOnNodes(false), ElementsAre("old-0", "old-1"));
}

// old-0 and young are equal by the pods of their own ReplicaSet on their nodes. A sibling's pod makes the
// difference.
TEST(ScaleDown, PodsOfReplicaSetsOfTheSameControllerCountForTheNode) {
  ReplicaBed bed({.controllers = "*,-deployment-controller", .nodes = 2});
  Json deployment = ReplicaSet("both", 0);
  ObjectPtr controller = bed.Must(bed.Create("deployments", "default", deployment));
  const Json owned_by = {{{"apiVersion", "apps/v1"},
                          {"kind", "Deployment"},
                          {"name", "both"},
                          {"uid", controller->header().uid},
                          {"controller", true}}};
  const std::tuple<const char*, const char*, const char*> pods[] = {
      {"old", "web", "node-0"}, {"sibling", "next", "node-0"}, {"young", "web", "node-1"}};
  api::Duration gap = 27min;
  for (const auto& [name, app, node] : pods) {
    Json pod = Pod(name, {{"app", app}});
    pod["spec"]["nodeName"] = node;
    bed.Must(bed.Create("pods", "default", pod));
    bed.clock().Advance(gap);
    gap /= 3;
  }
  Json web = ReplicaSet("web", 2);
  Json next = ReplicaSet("next", 1);
  web["metadata"]["ownerReferences"] = next["metadata"]["ownerReferences"] = owned_by;
  ObjectPtr owner = bed.Must(bed.Create("replicasets", "default", web));
  bed.Must(bed.Create("replicasets", "default", next));
  bed.Settle();
  bed.Scale("replicasets", "web", 1);
  bed.Settle();
  EXPECT_THAT(bed.PodNamesOf(owner), ElementsAre("young"));
}

TEST(ScaleDown, MeasuresTheAgeOfTheChosenPodsAgainstTheYoungest) {
  ReplicaBed bed({.nodes = 1});
  MakePodsOverTime(bed, {"-1", nullptr});  // 12 and 3 minutes old: the older one is deleted
  bed.clock().Advance(2min);
  bed.Must(bed.Create("replicasets", "default", ReplicaSet("web", 2)));
  bed.Settle();
  EXPECT_EQ(bed.Metric("replicaset_controller_sorting_deletion_age_ratio_count"), 0);
  bed.Scale("replicasets", "web", 1);
  bed.Settle();
  EXPECT_EQ(bed.Metric("replicaset_controller_sorting_deletion_age_ratio_count"), 1);
  EXPECT_EQ(bed.Metric("replicaset_controller_sorting_deletion_age_ratio_sum"), 2)
      << "whole numbers, as Kubernetes";
  bed.Scale("replicasets", "web", 0);
  bed.Settle();
  EXPECT_EQ(bed.Metric("replicaset_controller_sorting_deletion_age_ratio_count"), 1) << "nothing was sorted";
}

}  // namespace
}  // namespace terrarium::controllers
