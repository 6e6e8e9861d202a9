#include "kubelet-fake/scheduler/internal/cluster.h"

#include <gtest/gtest.h>

#include "kubelet-fake/scheduler/internal/filters.h"
#include "tests/kubelet-fake/scheduler/objects.h"

namespace terrarium::kubelet_fake::scheduling {
namespace {

using api::Json;

Json Web(const std::string& name, const Json& spec = Json::object()) {
  return PodDocument(name, {{"metadata", {{"labels", {{"app", "web"}}}}}, {"spec", spec}});
}

bool Passes(Cluster& cluster, const PodClassPtr& pod_class, const std::string& node) {
  cluster.Refresh(*pod_class);
  Diagnosis why;
  return PassesFilters(*pod_class, *cluster.FindNode(node), why);
}

TEST(Cluster, PodsThatAskForTheSameShareAClass) {
  Cluster cluster;
  const PodClassPtr first = cluster.ClassOf(*Pod(Web("a")));
  EXPECT_EQ(cluster.ClassOf(*Pod(Web("b"))), first);
  EXPECT_NE(cluster.ClassOf(*Pod(PodDocument("c"))), first) << "other labels";
  EXPECT_NE(cluster.ClassOf(*Pod(Web("d", {{"priority", 5}}))), first);
  Json elsewhere = Web("e");
  elsewhere["metadata"]["namespace"] = "other";
  EXPECT_NE(cluster.ClassOf(*Pod(elsewhere)), first);
}

TEST(Cluster, ANodeHasTheSumOfItsPodsAndLosesItAgain) {
  Cluster cluster;
  cluster.SetNode(Node("node-1"));
  const PodClassPtr pod_class =
      cluster.ClassOf(*Pod(PodWithRequests("a", {{"cpu", "500m"}, {"memory", "1Gi"}})));
  cluster.Place(pod_class, "node-1");
  NodeInfo& node = cluster.Place(pod_class, "node-1");
  EXPECT_EQ(node.pods, 2);
  EXPECT_EQ(node.requested.milli_cpu, 1000);
  cluster.Remove(pod_class, node);
  cluster.Remove(pod_class, node);
  EXPECT_EQ(node.pods, 0);
  EXPECT_TRUE(node.requested.IsZero());
  EXPECT_EQ(node.scoring_memory, 0);
  EXPECT_TRUE(node.placed.empty());
}

TEST(Cluster, OnlyWhatMattersToSchedulingChangesANode) {
  Cluster cluster;
  ASSERT_TRUE(cluster.SetNode(Node("node-1")));
  const auto generation = cluster.generation();
  Json condition = {{"type", "Ready"}, {"status", "True"}, {"lastHeartbeatTime", "2026-01-01T00:00:00Z"}};
  EXPECT_FALSE(cluster.SetNode(Node("node-1", {{"status", {{"conditions", Json::array({condition})}}}})));
  EXPECT_EQ(cluster.generation(), generation);
  EXPECT_TRUE(cluster.SetNode(Node("node-1", {{"metadata", {{"labels", {{"zone", "a"}}}}}})));
  EXPECT_TRUE(cluster.SetNode(Node("node-1", {{"spec", {{"unschedulable", true}}}})));
  const auto change = cluster.SetNode(Node("node-1", {{"status", {{"allocatable", {{"cpu", "8"}}}}}}));
  ASSERT_TRUE(change);
  EXPECT_TRUE(change->before.unschedulable);
  EXPECT_NE(cluster.generation(), generation);
}

TEST(Cluster, PodsMayComeBeforeTheirNodeAndOutliveIt) {
  Cluster cluster;
  const PodClassPtr pod_class = cluster.ClassOf(*Pod(PodWithRequests("a", {{"cpu", "3"}})));
  NodeInfo& node = cluster.Place(pod_class, "node-1");
  EXPECT_TRUE(cluster.nodes().empty());
  EXPECT_EQ(cluster.FindNode("node-1"), nullptr);
  cluster.SetNode(Node("node-1"));
  EXPECT_FALSE(Passes(cluster, pod_class, "node-1"));
  cluster.RemoveNode("node-1");
  EXPECT_TRUE(cluster.nodes().empty());
  cluster.Remove(pod_class, node);
  cluster.SetNode(Node("node-1"));
  EXPECT_TRUE(Passes(cluster, pod_class, "node-1"));
}

TEST(Cluster, CountsFollowPodsAndLabels) {
  Cluster cluster;
  cluster.SetNode(Node("a1", {{"metadata", {{"labels", {{"zone", "a"}}}}}}));
  cluster.SetNode(Node("a2", {{"metadata", {{"labels", {{"zone", "a"}}}}}}));
  cluster.SetNode(Node("b1", {{"metadata", {{"labels", {{"zone", "b"}}}}}}));
  const PodClassPtr shy = cluster.ClassOf(*Pod(Web("p", PodTermSpec("podAntiAffinity", "web", "zone"))));
  const PodClassPtr web = cluster.ClassOf(*Pod(Web("w")));
  EXPECT_TRUE(Passes(cluster, shy, "a1"));

  NodeInfo& a2 = cluster.Place(web, "a2");
  EXPECT_FALSE(Passes(cluster, shy, "a1"));
  EXPECT_TRUE(Passes(cluster, shy, "b1"));

  cluster.SetNode(Node("a2", {{"metadata", {{"labels", {{"zone", "b"}}}}}}));
  EXPECT_TRUE(Passes(cluster, shy, "a1")) << "the node with the pod has moved";
  EXPECT_FALSE(Passes(cluster, shy, "b1"));

  cluster.RemoveNode("a2");
  EXPECT_TRUE(Passes(cluster, shy, "b1")) << "a deleted node is in no domain";
  cluster.SetNode(Node("a2", {{"metadata", {{"labels", {{"zone", "b"}}}}}}));
  EXPECT_FALSE(Passes(cluster, shy, "b1"));
  cluster.Remove(web, a2);
  EXPECT_TRUE(Passes(cluster, shy, "b1"));

  // The reverse: an existing pod's anti-affinity keeps others away.
  NodeInfo& b1 = cluster.Place(shy, "b1");
  EXPECT_FALSE(Passes(cluster, web, "a2"));
  EXPECT_TRUE(Passes(cluster, web, "a1"));
  cluster.Remove(shy, b1);
  EXPECT_TRUE(Passes(cluster, web, "a2"));
}

TEST(Cluster, AGroupThatComesLaterCountsWhatWasThereBefore) {
  Cluster cluster;
  cluster.SetNode(Node("node-1"));
  cluster.SetNode(Node("node-2"));
  const PodClassPtr web = cluster.ClassOf(*Pod(Web("w")));
  cluster.Place(web, "node-1");
  const PodClassPtr near =
      cluster.ClassOf(*Pod(PodDocument("p", {{"spec", PodTermSpec("podAffinity", "web")}})));
  EXPECT_TRUE(Passes(cluster, near, "node-1"));
  EXPECT_FALSE(Passes(cluster, near, "node-2"));
}

TEST(Cluster, UnusedClassesAreDropped) {
  Cluster cluster;
  std::weak_ptr<PodClass> first = cluster.ClassOf(*Pod(Web("a", PodTermSpec("podAntiAffinity", "web"))));
  EXPECT_TRUE(first.expired());
  // Many more classes, each dropped immediately: the cluster still works.
  for (int i = 0; i < 2000; ++i) cluster.ClassOf(*Pod(Web("a", {{"priority", i}})));
  EXPECT_NE(cluster.ClassOf(*Pod(Web("a"))), nullptr);
}

}  // namespace
}  // namespace terrarium::kubelet_fake::scheduling
