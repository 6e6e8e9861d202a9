#include "kubelet-fake/scheduler/internal/retry_hints.h"

#include <gtest/gtest.h>

#include "kubelet-fake/scheduler/internal/cluster.h"
#include "tests/kubelet-fake/scheduler/objects.h"

namespace terrarium::kubelet_fake::scheduling {
namespace {

using api::Json;

PodClassPtr Refused(Cluster& cluster, const Json& pod, std::initializer_list<FilterName> by) {
  PodClassPtr out = cluster.ClassOf(*Pod(pod));
  out->failure.emplace();
  for (FilterName filter : by) out->failure->rejected_by.Insert(filter);
  return out;
}

Json Taint(const char* key) {
  Json taints = Json::array();
  taints.push_back({{"key", key}, {"effect", "NoSchedule"}});
  return {{"spec", {{"taints", taints}}}};
}

TEST(RetryHints, AChangedNodeHelpsOnlyAgainstWhatRefusedThePod) {
  const Json plain = Json::object();
  const Json cordoned = {{"spec", {{"unschedulable", true}}}};
  const Json ssd = {{"metadata", {{"labels", {{"disk", "ssd"}}}}}};
  const Json larger = {{"status", {{"allocatable", {{"cpu", "8"}}}}}};
  const Json smaller = {{"status", {{"allocatable", {{"cpu", "1"}}}}}};
  const Json tiny = {{"status", {{"allocatable", {{"cpu", "1m"}}}}}};
  const Json picky = PodDocument("p", {{"spec", {{"nodeSelector", {{"disk", "ssd"}}}}}});
  const Json greedy = PodWithRequests("p", {{"cpu", "2"}});
  struct Case {
    const char* name;
    Json pod;
    FilterName refused_by;
    std::optional<Json> before;
    Json after;
    bool helps;
  };
  const Case cases[] = {
      {"uncordoned", PodDocument("p"), FilterName::kNodeUnschedulable, cordoned, plain, true},
      {"cordoned as before", PodDocument("p"), FilterName::kNodeUnschedulable, cordoned, cordoned, false},
      {"a new node", PodDocument("p"), FilterName::kNodeUnschedulable, std::nullopt, plain, true},
      {"a new node, cordoned", PodDocument("p"), FilterName::kNodeUnschedulable, std::nullopt, cordoned,
       false},
      {"taint removed", PodDocument("p"), FilterName::kTaintToleration, Taint("a"), plain, true},
      {"taint exchanged", PodDocument("p"), FilterName::kTaintToleration, Taint("a"), Taint("b"), false},
      {"taint was not the matter", PodDocument("p"), FilterName::kNodeResourcesFit, Taint("a"), plain, false},
      {"label added", picky, FilterName::kNodeAffinity, plain, ssd, true},
      {"label was there", picky, FilterName::kNodeAffinity, ssd, ssd, false},
      {"a new node that matches", picky, FilterName::kNodeAffinity, std::nullopt, ssd, true},
      {"a new node that does not", picky, FilterName::kNodeAffinity, std::nullopt, plain, false},
      {"more cpu", greedy, FilterName::kNodeResourcesFit, plain, larger, true},
      {"less cpu", greedy, FilterName::kNodeResourcesFit, larger, plain, false},
      {"more cpu than before, not enough", greedy, FilterName::kNodeResourcesFit, tiny, smaller, false},
      {"a new node too small", greedy, FilterName::kNodeResourcesFit, std::nullopt, smaller, false},
      {"a new node large enough", greedy, FilterName::kNodeResourcesFit, std::nullopt, plain, true},
      {"a new node has free ports", PodDocument("p"), FilterName::kNodePorts, std::nullopt, plain, true},
      {"an old one has them no more than before", PodDocument("p"), FilterName::kNodePorts, plain, larger,
       false},
      {"neighbourhoods change with labels", PodDocument("p"), FilterName::kInterPodAffinity, plain, ssd,
       true},
      {"and not with anything else", PodDocument("p"), FilterName::kInterPodAffinity, plain, larger, false},
  };
  for (const Case& c : cases) {
    Cluster cluster;
    const PodClassPtr pod_class = Refused(cluster, c.pod, {c.refused_by});
    const NodeFacts before = c.before ? NodeFacts::Of(Node("n", *c.before)) : NodeFacts();
    EXPECT_EQ(NodeMayHelp(*pod_class, before, NodeFacts::Of(Node("n", c.after))), c.helps) << c.name;
  }
}

TEST(RetryHints, ThePodThatFoundNoNodesWaitsForTheFirst) {
  Cluster cluster;
  const PodClassPtr pod_class = Refused(cluster, PodDocument("p"), {});
  EXPECT_TRUE(NodeMayHelp(*pod_class, NodeFacts(), NodeFacts::Of(Node("n", Taint("a")))));
}

TEST(RetryHints, AFreedNodeHelpsWhenThePodFitsThereNow) {
  Cluster cluster;
  cluster.SetNode(Node("node-1"));
  const PodClassPtr greedy =
      Refused(cluster, PodWithRequests("p", {{"cpu", "3"}}), {FilterName::kNodeResourcesFit});
  const PodClassPtr large = cluster.ClassOf(*Pod(PodWithRequests("l", {{"cpu", "2"}})));
  const PodClassPtr small = cluster.ClassOf(*Pod(PodWithRequests("s", {{"cpu", "500m"}})));
  NodeInfo& node = cluster.Place(large, "node-1");
  cluster.Place(small, "node-1");
  cluster.Remove(small, node);
  EXPECT_FALSE(FreedNodeMayHelp(*greedy, *small, &node));
  cluster.Remove(large, node);
  EXPECT_TRUE(FreedNodeMayHelp(*greedy, *large, &node));
  EXPECT_FALSE(FreedNodeMayHelp(*greedy, *large, nullptr)) << "the node is gone";
  const PodClassPtr picky = Refused(cluster, PodDocument("q"), {FilterName::kNodeAffinity});
  EXPECT_FALSE(FreedNodeMayHelp(*picky, *large, &node));
}

TEST(RetryHints, PodsHelpThoseWhoseTermsNameThem) {
  const auto labelled = [](const char* app, const Json& spec = Json::object()) {
    return PodDocument("p", {{"metadata", {{"labels", {{"app", app}}}}}, {"spec", spec}});
  };
  Cluster cluster;
  cluster.SetNode(Node("node-1"));
  const auto by = {FilterName::kInterPodAffinity};
  const PodClassPtr wants_db = Refused(cluster, labelled("web", PodTermSpec("podAffinity", "db")), by);
  const PodClassPtr hates_db = Refused(cluster, labelled("api", PodTermSpec("podAntiAffinity", "db")), by);
  const PodClassPtr db = Refused(cluster, labelled("db"), by);
  const PodClassPtr other = cluster.ClassOf(*Pod(labelled("other")));
  const NodeInfo* node = cluster.FindNode("node-1");

  EXPECT_TRUE(PlacedPodMayHelp(*wants_db, *db));
  EXPECT_FALSE(PlacedPodMayHelp(*wants_db, *other));
  EXPECT_FALSE(PlacedPodMayHelp(*hates_db, *db));

  EXPECT_TRUE(FreedNodeMayHelp(*hates_db, *db, node));
  EXPECT_FALSE(FreedNodeMayHelp(*hates_db, *other, node));
  EXPECT_TRUE(FreedNodeMayHelp(*db, *hates_db, node)) << "the one that did not want it has gone";
  EXPECT_FALSE(FreedNodeMayHelp(*wants_db, *db, node));
}

}  // namespace
}  // namespace terrarium::kubelet_fake::scheduling
