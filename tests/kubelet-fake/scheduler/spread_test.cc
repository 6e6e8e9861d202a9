#include "kubelet-fake/scheduler/internal/spread.h"

#include <set>

#include <gtest/gtest.h>

#include "kubelet-fake/scheduler/internal/cluster.h"
#include "kubelet-fake/scheduler/internal/filters.h"
#include "kubelet-fake/scheduler/internal/node_choice.h"
#include "tests/kubelet-fake/scheduler/objects.h"

namespace terrarium::kubelet_fake::scheduling {
namespace {

using api::Json;

constexpr const char* kSpread = "node(s) didn't match pod topology spread constraints";
constexpr const char* kMissing =
    "node(s) didn't match pod topology spread constraints (missing required label)";

Json Constraint(const char* key, int max_skew, const Json& more = Json::object()) {
  Json out = {{"topologyKey", key},
              {"maxSkew", max_skew},
              {"whenUnsatisfiable", "DoNotSchedule"},
              {"labelSelector", {{"matchLabels", {{"app", "web"}}}}}};
  out.merge_patch(more);
  return out;
}

Json Web(const Json& constraints = Json::array(), const Json& spec = Json::object()) {
  Json pod = PodDocument("p", {{"metadata", {{"labels", {{"app", "web"}}}}}, {"spec", spec}});
  if (!constraints.empty()) pod["spec"]["topologySpreadConstraints"] = constraints;
  return pod;
}

Json One(const Json& constraint) { return Json::array({constraint}); }

class Spread : public ::testing::Test {
 protected:
  void AddNode(const std::string& name, const char* zone, const Json& more = Json::object()) {
    Json node = {{"metadata", {{"labels", Json::object()}}}};
    if (zone != nullptr) node["metadata"]["labels"]["zone"] = zone;
    node.merge_patch(more);
    cluster.SetNode(Node(name, node));
  }
  // Two zones of two nodes: a1, a2, b1, b2.
  void AddZones() {
    for (const char* name : {"a1", "a2", "b1", "b2"}) AddNode(name, std::string(1, name[0]).c_str());
  }
  PodClassPtr Place(const std::string& node, int pods = 1, const Json& pod = Web()) {
    PodClassPtr pod_class = cluster.ClassOf(*Pod(pod));
    for (int i = 0; i < pods; ++i) cluster.Place(pod_class, node);
    return pod_class;
  }
  // The nodes that pass the filters, in order of their names.
  std::string Feasible(const Json& pod) {
    const PodClassPtr pod_class = cluster.ClassOf(*Pod(pod));
    cluster.Refresh(*pod_class);
    std::set<std::string> names;
    why = {};
    for (const NodeInfo* node : cluster.nodes()) {
      if (PassesFilters(*pod_class, *node, why)) names.insert(node->name);
    }
    std::string out;
    for (const std::string& name : names) out.append(out.empty() ? "" : " ").append(name);
    return out;
  }
  std::string Why() { return why.Message(static_cast<int>(cluster.nodes().size())); }

  Cluster cluster;
  Diagnosis why;
};

TEST_F(Spread, ADomainMayHaveOnlyMaxSkewMorePodsThanTheEmptiestOne) {
  AddZones();
  const Json pod = Web(One(Constraint("zone", 1)));
  EXPECT_EQ(Feasible(pod), "a1 a2 b1 b2");
  Place("a1");
  EXPECT_EQ(Feasible(pod), "b1 b2");
  EXPECT_EQ(Why(), std::string("0/4 nodes are available: 2 ") + kSpread + ".");
  EXPECT_EQ(why.not_hopeless(), 2) << "preemption could help";
  EXPECT_EQ(Feasible(Web(One(Constraint("zone", 2)))), "a1 a2 b1 b2");
  Place("b2");
  EXPECT_EQ(Feasible(pod), "a1 a2 b1 b2");
}

TEST_F(Spread, ANodeWithoutTheKeyIsRefusedAndDoesNotCount) {
  AddZones();
  AddNode("plain", nullptr);
  const Json pod = Web(One(Constraint("zone", 1)));
  Place("plain", 5);
  EXPECT_EQ(Feasible(pod), "a1 a2 b1 b2");
  EXPECT_EQ(Why(), std::string("0/5 nodes are available: 1 ") + kMissing + ".");
  EXPECT_EQ(why.not_hopeless(), 0);
}

TEST_F(Spread, AllConstraintsMustHoldAndOnlyNodesWithAllKeysCount) {
  AddZones();
  Json both = One(Constraint("zone", 1));
  both.push_back(Constraint("kubernetes.io/hostname", 1));
  Place("a1");
  Place("b1");
  EXPECT_EQ(Feasible(Web(both)), "a2 b2");
  Place("a2");
  EXPECT_EQ(Feasible(Web(both)), "b2");
}

TEST_F(Spread, OnlyPodsOfTheNamespaceThatTheSelectorMatchesCount) {
  AddZones();
  const Json pod = Web(One(Constraint("zone", 1)));
  Json other = Web();
  other["metadata"]["namespace"] = "other";
  Place("a1", 3, other);
  Place("a1", 3, PodDocument("p", {{"metadata", {{"labels", {{"app", "db"}}}}}}));
  EXPECT_EQ(Feasible(pod), "a1 a2 b1 b2");
  // A pod that does not match its own selector adds nothing.
  Place("a1");
  Json stranger = Web(One(Constraint("zone", 1)));
  stranger["metadata"]["labels"]["app"] = "api";
  EXPECT_EQ(Feasible(stranger), "a1 a2 b1 b2");
}

TEST_F(Spread, AnEmptySelectorCountsThePodItselfAndNoOther) {
  AddZones();
  Place("a1", 3);
  EXPECT_EQ(Feasible(Web(One(Constraint("zone", 1, {{"labelSelector", {{"matchLabels", nullptr}}}})))),
            "a1 a2 b1 b2");
}

TEST_F(Spread, WithTooFewDomainsTheEmptiestOneCountsAsEmpty) {
  AddZones();
  Place("a1");
  Place("b1");
  EXPECT_EQ(Feasible(Web(One(Constraint("zone", 1, {{"minDomains", 2}})))), "a1 a2 b1 b2");
  EXPECT_EQ(Feasible(Web(One(Constraint("zone", 1, {{"minDomains", 3}})))), "");
  EXPECT_EQ(Feasible(Web(One(Constraint("zone", 2, {{"minDomains", 3}})))), "a1 a2 b1 b2");
}

TEST_F(Spread, NodesThatTheAffinityRulesOutCountOnlyUnderThatPolicy) {
  AddZones();
  AddNode("c1", "c", {{"metadata", {{"labels", {{"disk", "none"}}}}}});
  for (const char* name : {"a1", "a2", "b1", "b2"})
    AddNode(name, std::string(1, name[0]).c_str(), {{"metadata", {{"labels", {{"disk", "ssd"}}}}}});
  Place("a1");
  Place("b1");
  const Json spec = {{"nodeSelector", {{"disk", "ssd"}}}};
  EXPECT_EQ(Feasible(Web(One(Constraint("zone", 1)), spec)), "a1 a2 b1 b2") << "zone c is left out";
  EXPECT_EQ(Feasible(Web(One(Constraint("zone", 1, {{"nodeAffinityPolicy", "Ignore"}})), spec)), "");
}

TEST_F(Spread, TaintedNodesCountUnlessThePolicyHonorsTaints) {
  AddZones();
  Json taints = Json::array();
  taints.push_back({{"key", "broken"}, {"effect", "NoSchedule"}});
  AddNode("c1", "c", {{"spec", {{"taints", taints}}}});
  Place("a1");
  Place("b1");
  EXPECT_EQ(Feasible(Web(One(Constraint("zone", 1)))), "");
  EXPECT_EQ(Feasible(Web(One(Constraint("zone", 1, {{"nodeTaintsPolicy", "Honor"}})))), "a1 a2 b1 b2");
}

TEST_F(Spread, LabelsNamedByMatchLabelKeysNarrowTheSelector) {
  AddZones();
  const auto revision = [](const char* hash, const Json& constraints = Json::array()) {
    Json pod = Web(constraints);
    pod["metadata"]["labels"]["pod-template-hash"] = hash;
    return pod;
  };
  Place("a1", 3, revision("old"));
  const Json constraint = Constraint("zone", 1, {{"matchLabelKeys", {"pod-template-hash", "absent"}}});
  EXPECT_EQ(Feasible(revision("new", One(constraint))), "a1 a2 b1 b2");
  EXPECT_EQ(Feasible(revision("old", One(constraint))), "b1 b2");
}

TEST_F(Spread, CountsFollowPodsAndNodes) {
  AddZones();
  const Json pod = Web(One(Constraint("zone", 1)));
  EXPECT_EQ(Feasible(pod), "a1 a2 b1 b2");
  const PodClassPtr web = Place("a1");
  EXPECT_EQ(Feasible(pod), "b1 b2");
  AddNode("a1", "b");
  EXPECT_EQ(Feasible(pod), "a2") << "the node with the pod has moved to the other zone";
  AddNode("a1", nullptr);
  EXPECT_EQ(Feasible(pod), "a2 b1 b2");
  AddNode("a1", "a");
  EXPECT_EQ(Feasible(pod), "b1 b2");
  cluster.RemoveNode("b1");
  cluster.RemoveNode("b2");
  EXPECT_EQ(Feasible(pod), "a1 a2") << "one domain is left";
  AddNode("b1", "b");
  EXPECT_EQ(Feasible(pod), "b1");
  cluster.Remove(web, *cluster.FindNode("a1"));
  EXPECT_EQ(Feasible(pod), "a1 a2 b1");
}

TEST_F(Spread, ATerminatingPodDoesNotCount) {
  AddZones();
  const Json pod = Web(One(Constraint("zone", 1)));
  const api::ObjectName name{"default", "x"};
  PodRecord record;
  record.name = &name;
  record.pod_class = cluster.ClassOf(*Pod(Web()));
  cluster.PlacePod(record, "a1");
  EXPECT_EQ(Feasible(pod), "b1 b2");
  cluster.BeginTermination(record);
  cluster.BeginTermination(record);
  EXPECT_EQ(Feasible(pod), "a1 a2 b1 b2");
  AddNode("a1", "b");
  EXPECT_EQ(Feasible(pod), "a1 a2 b1 b2");
  cluster.RemovePod(record);
  EXPECT_EQ(Feasible(pod), "a1 a2 b1 b2");
  EXPECT_TRUE(cluster.FindNode("a1")->placed.empty());
}

TEST_F(Spread, AConstraintThatComesLaterCountsWhatWasThereBefore) {
  AddZones();
  const PodClassPtr web = Place("a1", 2);
  EXPECT_EQ(Feasible(Web(One(Constraint("zone", 2)))), "b1 b2");
}

// Preferences, by the choices among nodes that are otherwise equal.
class SoftSpread : public Spread {
 protected:
  std::set<std::string> Choices(const Json& pod) {
    std::set<std::string> out;
    for (int i = 0; i < 40; ++i) {
      PodRecord record;
      record.pod_class = cluster.ClassOf(*Pod(pod));
      Diagnosis unused;
      const NodeInfo* node = chooser.Choose(cluster, record, unused);
      out.insert(node == nullptr ? "" : node->name);
    }
    return out;
  }
  // Pods without requests would make a node less attractive; these are as many on each node.
  void Fill(const std::string& node, int web, int all = 6) {
    Place(node, web);
    Place(node, all - web, PodDocument("other"));
  }

  api::Prng prng{7};
  NodeChooser chooser{prng};
};

using Names = std::set<std::string>;

TEST_F(SoftSpread, TheDomainWithFewerPodsIsPreferred) {
  AddZones();
  for (const auto& [node, pods] : {std::pair("a1", 2), {"a2", 0}, {"b1", 1}, {"b2", 0}}) Fill(node, pods);
  const Json anyway = {{"whenUnsatisfiable", "ScheduleAnyway"}};
  EXPECT_EQ(Choices(Web(One(Constraint("zone", 1, anyway)))), Names({"b1", "b2"}));
  EXPECT_EQ(Choices(Web(One(Constraint("kubernetes.io/hostname", 1, anyway)))), Names({"a2", "b2"}));
  Json both = One(Constraint("zone", 1, anyway));
  both.push_back(Constraint("kubernetes.io/hostname", 1, anyway));
  EXPECT_EQ(Choices(Web(both)), Names({"b2"}));
}

TEST_F(SoftSpread, ANodeWithoutTheKeyIsTakenLast) {
  AddNode("plain", nullptr);
  AddNode("a1", "a");
  Fill("plain", 0);
  Fill("a1", 3);
  const Json anyway = {{"whenUnsatisfiable", "ScheduleAnyway"}};
  EXPECT_EQ(Choices(Web(One(Constraint("zone", 1, anyway)))), Names({"a1"}));
  cluster.RemoveNode("a1");
  EXPECT_EQ(Choices(Web(One(Constraint("zone", 1, anyway)))), Names({"plain"}));
}

Json OwnedBy(Json pod, const char* api_version, const char* kind, const char* name) {
  pod["metadata"]["ownerReferences"] = Json::array(
      {{{"apiVersion", api_version}, {"kind", kind}, {"name", name}, {"uid", "1"}, {"controller", true}}});
  return pod;
}

class DefaultSpread : public SoftSpread {
 protected:
  DefaultSpread() {
    AddNode("n1", nullptr);
    AddNode("n2", nullptr);
    Fill("n1", 2);
    Fill("n2", 0);
  }
  void SetWorkloads(bool known) {
    cluster.SetWorkloads([known](std::string_view resource, const api::ObjectName& name) -> api::ObjectPtr {
      if (!known) return nullptr;
      Json selector = {{"matchLabels", {{"app", "web"}}}};
      if (resource == "replicationcontrollers") selector = {{"app", "web"}};
      return Pod({{"metadata", {{"name", name.name}}}, {"spec", {{"selector", selector}}}});
    });
  }
};

const Names kBoth = {"n1", "n2"};

TEST_F(DefaultSpread, PodsOfAWorkloadSpreadOverNodes) {
  SetWorkloads(true);
  EXPECT_EQ(Choices(Web()), kBoth) << "of no workload";
  EXPECT_EQ(Choices(OwnedBy(Web(), "apps/v1", "ReplicaSet", "web")), Names({"n2"}));
  EXPECT_EQ(Choices(OwnedBy(Web(), "apps/v1", "StatefulSet", "web")), Names({"n2"}));
  EXPECT_EQ(Choices(OwnedBy(Web(), "v1", "ReplicationController", "web")), Names({"n2"}));
  EXPECT_EQ(Choices(OwnedBy(Web(), "batch/v1", "Job", "web")), kBoth);
  const Json own = One(Constraint("zone", 1, {{"whenUnsatisfiable", "ScheduleAnyway"}}));
  EXPECT_EQ(Choices(OwnedBy(Web(own), "apps/v1", "ReplicaSet", "web")), kBoth) << "its own ones replace them";
}

TEST_F(DefaultSpread, AWorkloadThatIsSeenLaterCounts) {
  SetWorkloads(false);
  const Json pod = OwnedBy(Web(), "apps/v1", "ReplicaSet", "web");
  const PodClassPtr keep = cluster.ClassOf(*Pod(pod));
  EXPECT_EQ(Choices(pod), kBoth);
  SetWorkloads(true);
  cluster.WorkloadSeen("statefulsets", {"default", "web"});
  EXPECT_EQ(Choices(pod), kBoth);
  cluster.WorkloadSeen("replicasets", {"default", "web"});
  EXPECT_EQ(Choices(pod), Names({"n2"}));
}

TEST_F(DefaultSpread, PodsOfAServiceSpreadOverNodesWhileItSelectsThem) {
  const auto service = [](const Json& selector) {
    return Pod(
        {{"metadata", {{"name", "web"}, {"namespace", "default"}}}, {"spec", {{"selector", selector}}}});
  };
  const PodClassPtr keep = cluster.ClassOf(*Pod(Web()));
  cluster.SetService(service({{"app", "web"}}));
  EXPECT_EQ(Choices(Web()), Names({"n2"}));
  cluster.SetService(service({{"app", "db"}}));
  EXPECT_EQ(Choices(Web()), kBoth);
  cluster.SetService(service({{"app", "web"}}));
  cluster.RemoveService({"default", "web"});
  EXPECT_EQ(Choices(Web()), kBoth);
  cluster.SetService(service(nullptr));
  EXPECT_EQ(Choices(Web()), kBoth) << "a Service without selector selects nothing";
}

TEST_F(DefaultSpread, NodesWithoutZoneTakePartBesideOthersWithOne) {
  const auto zone = [](const char* name) {
    return Json{{"metadata", {{"labels", {{"topology.kubernetes.io/zone", name}}}}}};
  };
  SetWorkloads(true);
  AddNode("n3", nullptr, zone("a"));
  AddNode("n4", nullptr, zone("a"));
  Fill("n3", 1);
  Fill("n4", 0);
  EXPECT_EQ(Choices(OwnedBy(Web(), "apps/v1", "ReplicaSet", "web")), Names({"n2"}));
}

}  // namespace
}  // namespace terrarium::kubelet_fake::scheduling
