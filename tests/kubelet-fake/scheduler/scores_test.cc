#include "kubelet-fake/scheduler/internal/scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubelet-fake/scheduler/internal/cluster.h"
#include "tests/kubelet-fake/scheduler/objects.h"

namespace terrarium::kubelet_fake::scheduling {
namespace {

using api::Json;
using ::testing::ElementsAre;

NodeInfo Using(std::int64_t milli_cpu, std::int64_t memory) {
  NodeInfo node;
  node.facts.allocatable.resources = {.milli_cpu = 4000, .memory = 4000};
  node.requested = {.milli_cpu = milli_cpu, .memory = memory};
  node.UpdateEvenness();
  return node;
}

TEST(BalancedAllocation, FavoursThePodThatEvensTheUseOut) {
  // Before: 50% of cpu and 0% of memory, a deviation of 25.
  EXPECT_EQ(BalancedAllocationScore({.memory = 2000}, Using(2000, 0)), 87);
  EXPECT_EQ(BalancedAllocationScore({.milli_cpu = 2000}, Using(2000, 0)), 62);
  EXPECT_EQ(BalancedAllocationScore({.milli_cpu = 400, .memory = 400}, Using(2000, 0)), 75);
  EXPECT_EQ(BalancedAllocationScore({.milli_cpu = 4000}, Using(0, 0)), 50);
  EXPECT_EQ(BalancedAllocationScore({.memory = 4000}, Using(4000, 0)), 100);
  EXPECT_EQ(BalancedAllocationScore({.milli_cpu = 4000}, Using(4000, 4000)), 75) << "more than all is all";
  NodeInfo without = Using(0, 0);
  without.facts.allocatable.resources.memory = 0;
  without.UpdateEvenness();
  EXPECT_EQ(BalancedAllocationScore({.milli_cpu = 4000}, without), 75) << "one resource is always even";
}

class PodAffinityScore : public ::testing::Test {
 protected:
  PodAffinityScore() {
    for (const char* name : {"n1", "n2", "n3"}) cluster.SetNode(Node(name));
  }
  void Place(const Json& pod, const std::string& node) { cluster.Place(cluster.ClassOf(*Pod(pod)), node); }
  // The scores of the nodes above the lowest one.
  std::vector<std::int64_t> Scores(const Json& pod) {
    const PodClassPtr pod_class = cluster.ClassOf(*Pod(pod));
    cluster.Refresh(*pod_class);
    std::vector<std::int64_t> scores = NodeScores().Of(*pod_class, cluster.nodes(), false);
    const std::int64_t least = *std::min_element(scores.begin(), scores.end());
    for (std::int64_t& score : scores) score -= least;
    return scores;
  }

  Cluster cluster;
};

// Requests nothing that would make a difference between nodes.
Json Labelled(const char* app, const Json& spec = Json::object()) {
  Json pod = PodDocument("p", {{"metadata", {{"labels", {{"app", app}}}}}, {"spec", spec}});
  pod["spec"]["containers"][0]["resources"]["requests"] = {{"cpu", "0"}, {"memory", "0"}};
  return pod;
}

Json Preferring(const char* kind, const char* app, int weight) {
  Json term = {{"topologyKey", "kubernetes.io/hostname"},
               {"labelSelector", {{"matchLabels", {{"app", app}}}}}};
  Json terms = Json::array();
  terms.push_back({{"weight", weight}, {"podAffinityTerm", term}});
  return {{"affinity", {{kind, {{"preferredDuringSchedulingIgnoredDuringExecution", terms}}}}}};
}

TEST_F(PodAffinityScore, PodsThatThePodPrefersAttractIt) {
  Place(Labelled("db"), "n1");
  Place(Labelled("db"), "n1");
  Place(Labelled("db"), "n2");
  EXPECT_THAT(Scores(Labelled("web", Preferring("podAffinity", "db", 10))), ElementsAre(200, 100, 0));
  EXPECT_THAT(Scores(Labelled("web", Preferring("podAntiAffinity", "db", 10))), ElementsAre(0, 100, 200));
  EXPECT_THAT(Scores(Labelled("web")), ElementsAre(0, 0, 0));
}

TEST_F(PodAffinityScore, PodsThatPreferThePodAttractItToo) {
  Place(Labelled("db", Preferring("podAffinity", "web", 40)), "n1");
  Place(Labelled("db", Preferring("podAntiAffinity", "web", 60)), "n2");
  EXPECT_THAT(Scores(Labelled("web")), ElementsAre(200, 0, 120));
  EXPECT_THAT(Scores(Labelled("other")), ElementsAre(0, 0, 0));
}

TEST_F(PodAffinityScore, RequiredAffinityOfAPlacedPodHasWeightOne) {
  Place(Labelled("db", PodTermSpec("podAffinity", "web")), "n1");
  Place(Labelled("db", Preferring("podAffinity", "web", 2)), "n2");
  EXPECT_THAT(Scores(Labelled("web")), ElementsAre(100, 200, 0));
}

TEST_F(PodAffinityScore, WeightsThatCancelOutMakeNoDifference) {
  Place(Labelled("db", Preferring("podAffinity", "web", 5)), "n1");
  Place(Labelled("db", Preferring("podAntiAffinity", "web", 5)), "n1");
  EXPECT_THAT(Scores(Labelled("web")), ElementsAre(0, 0, 0));
}

TEST_F(PodAffinityScore, WeightsFollowPodsAndNodes) {
  const Json admirer = Labelled("db", Preferring("podAffinity", "web", 5));
  const PodClassPtr pod_class = cluster.ClassOf(*Pod(admirer));
  NodeInfo& node = cluster.Place(pod_class, "n1");
  EXPECT_THAT(Scores(Labelled("web")), ElementsAre(200, 0, 0));
  cluster.SetNode(Node("n1", {{"metadata", {{"labels", {{"kubernetes.io/hostname", "n3"}}}}}}));
  EXPECT_THAT(Scores(Labelled("web")), ElementsAre(200, 0, 200));
  cluster.Remove(pod_class, node);
  EXPECT_THAT(Scores(Labelled("web")), ElementsAre(0, 0, 0));
}

}  // namespace
}  // namespace terrarium::kubelet_fake::scheduling
