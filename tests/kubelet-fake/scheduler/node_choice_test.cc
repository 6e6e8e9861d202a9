#include "kubelet-fake/scheduler/internal/node_choice.h"

#include <set>

#include <gtest/gtest.h>

#include "tests/kubelet-fake/scheduler/objects.h"

namespace terrarium::kubelet_fake::scheduling {
namespace {

using api::Json;

class NodeChoice : public ::testing::Test {
 protected:
  void AddNode(const std::string& name, const Json& more = Json::object()) {
    cluster.SetNode(Node(name, more));
  }

  void Place(const Json& pod, const std::string& node) { cluster.Place(cluster.ClassOf(*Pod(pod)), node); }

  // The node for the pod, or "" with the reasons in `message`.
  std::string Choose(const Json& pod) {
    PodRecord record;
    record.pod_class = cluster.ClassOf(*Pod(pod));
    Diagnosis why;
    const NodeInfo* node = chooser.Choose(cluster, record, why);
    if (node != nullptr) return node->name;
    message = why.Message(static_cast<int>(cluster.nodes().size()));
    message.resize(message.size() - 1);
    return "";
  }

  // The reasons why the pod, in addition to the placed ones, finds no node.
  std::string Why(const Json& pod) {
    EXPECT_EQ(Choose(pod), "");
    return message;
  }

  api::Prng prng{7};
  Cluster cluster;
  NodeChooser chooser{prng};
  std::string message;
};

Json Labelled(const std::string& name, const char* app, const Json& spec = Json::object()) {
  return PodDocument(name, {{"metadata", {{"labels", {{"app", app}}}}}, {"spec", spec}});
}

Json Tainted(const char* effect) {
  Json taints = Json::array();
  taints.push_back({{"key", "dedicated"}, {"value", "x"}, {"effect", effect}});
  return {{"spec", {{"taints", taints}}}};
}

TEST_F(NodeChoice, EachFilterRefusesWithItsReason) {
  struct Case {
    const char* name;
    Json node;
    Json pod;
    const char* reason;
  };
  Json host_port = PodDocument("p");
  host_port["spec"]["containers"][0]["ports"].push_back({{"containerPort", 80}, {"hostPort", 80}});
  const Case cases[] = {
      {"cordoned", {{"spec", {{"unschedulable", true}}}}, PodDocument("p"), "1 node(s) were unschedulable"},
      {"NoSchedule", Tainted("NoSchedule"), PodDocument("p"), "1 node(s) had untolerated taint(s)"},
      {"NoExecute", Tainted("NoExecute"), PodDocument("p"), "1 node(s) had untolerated taint(s)"},
      {"selector", Json::object(), PodDocument("p", {{"spec", {{"nodeSelector", {{"disk", "ssd"}}}}}}),
       "1 node(s) didn't match Pod's node affinity/selector"},
      {"ports", Json::object(), host_port, "1 node(s) didn't have free ports for the requested pod ports"},
      {"pods", {{"status", {{"allocatable", {{"pods", "1"}}}}}}, PodDocument("p"), "1 Too many pods"},
      {"cpu", Json::object(), PodWithRequests("p", {{"cpu", "3500m"}}), "1 Insufficient cpu"},
      {"memory", Json::object(), PodWithRequests("p", {{"memory", "9Gi"}}), "1 Insufficient memory"},
      {"ephemeral storage", Json::object(), PodWithRequests("p", {{"ephemeral-storage", "1"}}),
       "1 Insufficient ephemeral-storage"},
      {"extended", Json::object(), PodWithRequests("p", {{"nvidia.com/gpu", "1"}}),
       "1 Insufficient nvidia.com/gpu"},
      {"all that is short is named", Json::object(), PodWithRequests("p", {{"memory", "9Gi"}, {"cpu", "5"}}),
       "1 Insufficient cpu, 1 Insufficient memory"},
      {"affinity to no pod", Json::object(), Labelled("p", "web", PodTermSpec("podAffinity", "db")),
       "1 node(s) didn't match pod affinity rules"},
      {"anti-affinity", Json::object(), Labelled("p", "web", PodTermSpec("podAntiAffinity", "there")),
       "1 node(s) didn't match pod anti-affinity rules"},
      {"another's anti-affinity", Json::object(), Labelled("p", "hated"),
       "1 node(s) didn't satisfy existing pods anti-affinity rules"},
  };
  for (const Case& c : cases) {
    cluster = Cluster();
    AddNode("node-1", c.node);
    // Existing load: a pod with a port, a cpu and an anti-affinity.
    Json there = Labelled("there", "there", PodTermSpec("podAntiAffinity", "hated"));
    there["spec"]["containers"][0]["ports"].push_back({{"containerPort", 80}, {"hostPort", 80}});
    there["spec"]["containers"][0]["resources"]["requests"] = {{"cpu", "1"}};
    Place(there, "node-1");
    EXPECT_EQ(Why(c.pod), std::string("0/1 nodes are available: ") + c.reason) << c.name;
  }
}

TEST_F(NodeChoice, TheFirstFilterThatRefusesANodeEndsItsTurn) {
  Json node = Tainted("NoSchedule");
  node["spec"]["unschedulable"] = true;
  AddNode("node-1", node);
  EXPECT_EQ(Why(PodWithRequests("p", {{"cpu", "100"}})),
            "0/1 nodes are available: 1 node(s) were unschedulable");
}

TEST_F(NodeChoice, PodsThatTolerateTheCordonAreAccepted) {
  AddNode("node-1", {{"spec", {{"unschedulable", true}}}});
  Json tolerations = Json::array();
  tolerations.push_back({{"key", "node.kubernetes.io/unschedulable"}, {"operator", "Exists"}});
  EXPECT_EQ(Choose(PodDocument("p", {{"spec", {{"tolerations", tolerations}}}})), "node-1");
}

TEST_F(NodeChoice, TheEmptierNodeIsChosen) {
  AddNode("node-1");
  AddNode("node-2");
  AddNode("node-3");
  Place(PodWithRequests("a", {{"cpu", "1"}}), "node-1");
  Place(PodWithRequests("b", {{"memory", "1Gi"}}), "node-3");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Choose(PodDocument("p")), "node-2");
}

TEST_F(NodeChoice, EqualsAreDrawnByLot) {
  for (const char* name : {"node-1", "node-2", "node-3"}) AddNode(name);
  std::set<std::string> chosen;
  for (int i = 0; i < 50; ++i) chosen.insert(Choose(PodDocument("p")));
  EXPECT_EQ(chosen.size(), 3u);
}

TEST_F(NodeChoice, ATaintThatOnlyDiscouragesLosesAgainstAnEmptierNodeWithout) {
  AddNode("node-1", Tainted("PreferNoSchedule"));
  AddNode("node-2");
  for (int i = 0; i < 5; ++i) Place(PodWithRequests("a", {{"cpu", "500m"}}), "node-2");
  EXPECT_EQ(Choose(PodDocument("p")), "node-2");
  Place(PodWithRequests("big", {{"cpu", "1500m"}}), "node-2");
  EXPECT_EQ(Choose(PodWithRequests("p", {{"cpu", "100m"}})), "node-1") << "where nothing else is left";
}

TEST_F(NodeChoice, PreferredNodeAffinityOutweighsEmptiness) {
  AddNode("node-1", {{"metadata", {{"labels", {{"disk", "ssd"}}}}}});
  AddNode("node-2");
  Place(PodWithRequests("a", {{"cpu", "3"}}), "node-1");
  Json expression = {{"key", "disk"}, {"operator", "Exists"}};
  Json preference = {{"weight", 1}, {"preference", {{"matchExpressions", Json::array({expression})}}}};
  Json affinity = {
      {"nodeAffinity", {{"preferredDuringSchedulingIgnoredDuringExecution", Json::array({preference})}}}};
  EXPECT_EQ(Choose(PodDocument("p", {{"spec", {{"affinity", affinity}}}})), "node-1");
}

TEST_F(NodeChoice, OnlyNamedNodesAreChecked) {
  for (const char* name : {"node-1", "node-2", "node-3"}) AddNode(name);
  Json expression = {{"key", "metadata.name"}, {"operator", "In"}, {"values", {"node-2"}}};
  Json term = {{"matchFields", Json::array({expression})}};
  Json affinity = {
      {"nodeAffinity",
       {{"requiredDuringSchedulingIgnoredDuringExecution", {{"nodeSelectorTerms", Json::array({term})}}}}}};
  const Json pod = PodDocument("p", {{"spec", {{"affinity", affinity}}}});
  EXPECT_EQ(Choose(pod), "node-2");
  cluster.SetNode(Node("node-2", {{"spec", {{"unschedulable", true}}}}));
  EXPECT_EQ(Why(pod),
            "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't satisfy plugin(s) "
            "[NodeAffinity]");
}

TEST_F(NodeChoice, AntiAffinityByHostSpreadsOverHosts) {
  for (const char* name : {"node-1", "node-2", "node-3"}) AddNode(name);
  const Json pod = Labelled("p", "web", PodTermSpec("podAntiAffinity", "web"));
  std::set<std::string> chosen;
  for (int i = 0; i < 3; ++i) {
    const std::string node = Choose(pod);
    chosen.insert(node);
    Place(pod, node);
  }
  EXPECT_EQ(chosen.size(), 3u);
  EXPECT_EQ(Why(pod), "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules");
}

TEST_F(NodeChoice, AntiAffinityByZoneRulesOutTheWholeZone) {
  AddNode("a1", {{"metadata", {{"labels", {{"zone", "a"}}}}}});
  AddNode("a2", {{"metadata", {{"labels", {{"zone", "a"}}}}}});
  AddNode("b1", {{"metadata", {{"labels", {{"zone", "b"}}}}}});
  Place(Labelled("x", "web"), "a1");
  const Json pod = Labelled("p", "api", PodTermSpec("podAntiAffinity", "web", "zone"));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Choose(pod), "b1");
}

TEST_F(NodeChoice, ANodeWithoutTheTopologyKeyIsInNoDomain) {
  AddNode("plain");
  Place(Labelled("x", "web"), "plain");
  EXPECT_EQ(Choose(Labelled("p", "api", PodTermSpec("podAntiAffinity", "web", "zone"))), "plain");
  EXPECT_EQ(Why(Labelled("p", "api", PodTermSpec("podAffinity", "web", "zone"))),
            "0/1 nodes are available: 1 node(s) didn't match pod affinity rules");
}

TEST_F(NodeChoice, AffinityFollowsThePodItNames) {
  for (const char* name : {"node-1", "node-2", "node-3"}) AddNode(name);
  const Json pod = Labelled("p", "web", PodTermSpec("podAffinity", "db"));
  EXPECT_EQ(Choose(pod), "");
  Place(Labelled("x", "db"), "node-2");
  EXPECT_EQ(Choose(pod), "node-2");
}

TEST_F(NodeChoice, TheFirstOfItsKindMayBegin) {
  for (const char* name : {"node-1", "node-2"}) AddNode(name);
  const Json pod = Labelled("p", "web", PodTermSpec("podAffinity", "web"));
  const std::string first = Choose(pod);
  EXPECT_NE(first, "");
  Place(pod, first);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Choose(pod), first);
}

TEST_F(NodeChoice, TermsWithoutNamespacesApplyToThePodsOwn) {
  AddNode("node-1");
  Json other = Labelled("x", "web");
  other["metadata"]["namespace"] = "other";
  Place(other, "node-1");
  EXPECT_EQ(Choose(Labelled("p", "api", PodTermSpec("podAntiAffinity", "web"))), "node-1");

  Json named = PodTermSpec("podAntiAffinity", "web");
  Json& term = named["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0];
  term["namespaces"] = {"other"};
  EXPECT_EQ(Choose(Labelled("p", "api", named)), "");

  term.erase("namespaces");
  term["namespaceSelector"]["matchLabels"] = {{"team", "blue"}};
  const Json selected = Labelled("p", "api", named);
  EXPECT_EQ(Choose(selected), "node-1");
  cluster.SetNamespace(Namespace("other", {{"team", "blue"}}));
  EXPECT_EQ(Choose(selected), "");
  cluster.SetNamespace(Namespace("other", {{"team", "red"}}));
  EXPECT_EQ(Choose(selected), "node-1");
}

TEST_F(NodeChoice, WithManyNodesAShareOfThemIsSearchedInTurn) {
  EXPECT_EQ(GoodNodesWanted(1), 1u);
  EXPECT_EQ(GoodNodesWanted(99), 99u);
  EXPECT_EQ(GoodNodesWanted(100), 100u);
  EXPECT_EQ(GoodNodesWanted(1000), 420u);
  EXPECT_EQ(GoodNodesWanted(5000), 500u);
  EXPECT_EQ(GoodNodesWanted(6000), 300u);

  // One node is much better than all others, but is not always among the sampled ones.
  for (int i = 0; i < 400; ++i) {
    const std::string name = "node-" + std::to_string(i);
    AddNode(name);
    if (i != 250) Place(PodWithRequests("x", {{"cpu", "3"}}), name);
  }
  int best = 0;
  for (int i = 0; i < 20; ++i) best += Choose(PodDocument("p")) == "node-250" ? 1 : 0;
  EXPECT_GT(best, 5);
  EXPECT_LT(best, 15);
}

}  // namespace
}  // namespace terrarium::kubelet_fake::scheduling
