#include "kubelet-fake/scheduler/internal/preemption.h"

#include <map>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/header.h"
#include "kubelet-fake/scheduler/internal/node_choice.h"
#include "tests/kubelet-fake/scheduler/objects.h"

namespace terrarium::kubelet_fake::scheduling {
namespace {

using api::Json;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using Kind = PreemptionResult::Kind;

constexpr api::Time kNow = api::Time(std::chrono::hours(1000));

// A pod that requests `cpu`.
Json Asking(const char* cpu, int priority, const Json& more = Json::object()) {
  Json pod = PodWithRequests("", {{"cpu", cpu}});
  pod["spec"]["priority"] = priority;
  pod.merge_patch(more);
  return pod;
}

Json Labels(const char* app) { return {{"metadata", {{"labels", {{"app", app}}}}}}; }
Json StartedAt(const char* time) { return {{"status", {{"startTime", time}}}}; }

class Preemption : public ::testing::Test {
 protected:
  void AddNode(const std::string& name, const Json& more = Json::object()) {
    cluster.SetNode(Node(name, more));
  }

  PodRecord& New(const std::string& name, Json document) {
    document["metadata"]["name"] = name;
    const auto it = pods.try_emplace({"default", name}).first;
    it->second.name = &it->first;
    objects[name] = Pod(document);
    it->second.pod_class = cluster.ClassOf(*objects[name]);
    return it->second;
  }
  PodRecord& Place(const std::string& name, const std::string& node, const Json& document) {
    PodRecord& pod = New(name, document);
    cluster.PlacePod(pod, node);
    return pod;
  }

  void SetBudget(const std::string& name, const char* app, int allowed, const Json& more = Json::object()) {
    Json budget = {{"metadata", {{"name", name}, {"namespace", "default"}}},
                   {"spec", {{"selector", {{"matchLabels", {{"app", app}}}}}}},
                   {"status", {{"disruptionsAllowed", allowed}}}};
    budget.merge_patch(more);
    budgets.Set(api::Object::Make(apiserver::DeriveHeaderOfStored("poddisruptionbudgets", budget), budget));
  }

  PreemptionResult Find(const PodRecord& pod) {
    Diagnosis why;
    EXPECT_EQ(chooser.Choose(cluster, pod, why), nullptr) << "nothing to preempt for";
    return search.Find(pod, chooser.not_hopeless(), kNow);
  }
  PreemptionResult FindFor(const Json& document) { return Find(New("preemptor", document)); }

  // The chosen node and the names of the victims.
  std::vector<std::string> Chosen(const Json& document) {
    const PreemptionResult result = FindFor(document);
    EXPECT_EQ(result.kind, Kind::kCandidate) << result.message;
    if (result.kind != Kind::kCandidate) return {};
    std::vector<std::string> out = {result.candidate.node->name};
    for (const PodRecord* victim : result.candidate.victims) out.push_back(victim->name->name);
    return out;
  }

  api::Prng prng{7};
  Cluster cluster;
  NodeChooser chooser{prng};
  DisruptionBudgets budgets;
  std::map<api::ObjectName, PodRecord> pods;
  std::map<std::string, api::ObjectPtr> objects;
  PreemptionSearch search{cluster, budgets, prng,
                          [this](const PodRecord& pod) { return objects[pod.name->name]; }};
};

TEST_F(Preemption, OnlyLessImportantPodsAreVictims) {
  AddNode("node-1");
  Place("low", "node-1", Asking("2", 1));
  Place("equal", "node-1", Asking("2", 5));
  EXPECT_THAT(Chosen(Asking("2", 5)), ElementsAre("node-1", "low"));
  EXPECT_EQ(FindFor(Asking("3", 5)).message, "0/1 nodes are available: 1 Insufficient cpu.");
  EXPECT_EQ(FindFor(Asking("2", 1)).message,
            "0/1 nodes are available: 1 No preemption victims found for incoming pod.");
}

TEST_F(Preemption, NodesThatFailForOtherReasonsAreNotHelped) {
  AddNode("node-1");
  AddNode("node-2", {{"spec", {{"unschedulable", true}}}});
  AddNode("node-3", {{"status", {{"allocatable", {{"cpu", "1"}}}}}});
  Place("equal", "node-1", Asking("4", 5));
  Place("low", "node-2", Asking("4", 1));
  EXPECT_EQ(
      FindFor(Asking("2", 5)).message,
      "0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful "
      "for scheduling.");
}

TEST_F(Preemption, AsManyPodsAsPossibleAreSparedTheImportantOnesFirst) {
  AddNode("node-1");
  Place("a", "node-1", Asking("1", 1));
  Place("b", "node-1", Asking("1", 3));
  Place("c", "node-1", Asking("1", 2));
  Place("d", "node-1", Asking("1", 4));
  EXPECT_THAT(Chosen(Asking("1", 9)), ElementsAre("node-1", "a"));
  EXPECT_THAT(Chosen(Asking("2", 9)), ElementsAre("node-1", "c", "a"));
  // Sparing the most important ones is not the same as choosing few.
  Place("e", "node-1", Asking("0", 0));
  EXPECT_THAT(Chosen(Asking("4", 9)), ElementsAre("node-1", "d", "b", "c", "a"));
}

TEST_F(Preemption, OfEquallyImportantPodsTheOlderOneIsSpared) {
  AddNode("node-1");
  Place("young", "node-1", Asking("2", 1, StartedAt("1970-01-20T00:00:00Z")));
  Place("old", "node-1", Asking("2", 1, StartedAt("1970-01-10T00:00:00Z")));
  EXPECT_THAT(Chosen(Asking("2", 9)), ElementsAre("node-1", "young"));
}

TEST_F(Preemption, TheNodeThatIsDisturbedLeastIsChosen) {
  struct Case {
    const char* name;
    std::vector<std::pair<const char*, Json>> pods;  // by node
    const char* chosen;
  };
  const Case cases[] = {
      {"the least important highest victim",
       {{"n1", Asking("4", 3)}, {"n2", Asking("2", 2)}, {"n2", Asking("2", 2)}},
       "n2"},
      {"then the smaller sum of priorities",
       {{"n1", Asking("2", 3)}, {"n1", Asking("2", 2)}, {"n2", Asking("2", 3)}, {"n2", Asking("2", 1)}},
       "n2"},
      {"fewer victims have a smaller sum, also of negative priorities",
       {{"n1", Asking("2", -3)}, {"n1", Asking("2", -3)}, {"n2", Asking("4", -3)}},
       "n2"},
      {"then the most important victims that started last",
       {{"n1", Asking("4", 3, StartedAt("1970-01-10T00:00:00Z"))},
        {"n2", Asking("4", 3, StartedAt("1970-01-20T00:00:00Z"))}},
       "n2"},
      {"the start of a less important victim does not count",
       {{"n1", Asking("2", 3, StartedAt("1970-01-10T00:00:00Z"))},
        {"n1", Asking("2", 1, StartedAt("1970-01-25T00:00:00Z"))},
        {"n2", Asking("2", 3, StartedAt("1970-01-20T00:00:00Z"))},
        {"n2", Asking("2", 1, StartedAt("1970-01-05T00:00:00Z"))}},
       "n2"},
  };
  for (const Case& c : cases) {
    pods.clear();
    objects.clear();
    cluster = Cluster();
    AddNode("n1");
    AddNode("n2");
    int number = 0;
    for (const auto& [node, document] : c.pods) Place("pod-" + std::to_string(number++), node, document);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(Chosen(Asking("4", 9)).front(), c.chosen) << c.name;
  }
}

TEST_F(Preemption, BudgetsAreRespectedWhereThatIsPossible) {
  AddNode("n1");
  AddNode("n2");
  Place("guarded", "n1", Asking("4", 1, Labels("web")));
  Place("free", "n2", Asking("4", 3));
  SetBudget("web", "web", 0);
  EXPECT_THAT(Chosen(Asking("2", 9)), ElementsAre("n2", "free")) << "though it is more important";
  SetBudget("web", "web", 1);
  EXPECT_THAT(Chosen(Asking("2", 9)), ElementsAre("n1", "guarded"));
  SetBudget("web", "web", 0, {{"status", {{"disruptedPods", {{"guarded", "1970-01-01T00:00:00Z"}}}}}});
  EXPECT_THAT(Chosen(Asking("2", 9)), ElementsAre("n1", "guarded")) << "its eviction was allowed already";
  budgets.Remove({"default", "web"});
  EXPECT_THAT(Chosen(Asking("2", 9)), ElementsAre("n1", "guarded"));
}

TEST_F(Preemption, ABudgetThatCannotBeRespectedIsViolated) {
  AddNode("n1");
  Place("a", "n1", Asking("2", 1, Labels("web")));
  Place("b", "n1", Asking("2", 2, Labels("web")));
  SetBudget("web", "web", 1);
  const PreemptionResult result = FindFor(Asking("4", 9));
  ASSERT_EQ(result.kind, Kind::kCandidate);
  EXPECT_EQ(result.candidate.victims.size(), 2u);
  EXPECT_EQ(result.candidate.violations, 1);
}

TEST_F(Preemption, OnANodeThePodsWithoutBudgetGoFirst) {
  AddNode("n1");
  Place("guarded", "n1", Asking("2", 1, Labels("web")));
  Place("free", "n1", Asking("2", 2));
  SetBudget("web", "web", 0);
  EXPECT_THAT(Chosen(Asking("2", 9)), ElementsAre("n1", "free"));
}

TEST_F(Preemption, EveryBudgetOfAPodCounts) {
  AddNode("n1");
  AddNode("n2");
  Json both = Labels("web");
  both["metadata"]["labels"]["tier"] = "front";
  Place("twice", "n1", Asking("4", 1, both));
  Place("free", "n2", Asking("4", 2));
  SetBudget("roomy", "web", 5);
  SetBudget("tight", "web", 0,
            {{"spec", {{"selector", {{"matchLabels", {{"app", nullptr}, {"tier", "front"}}}}}}}});
  EXPECT_THAT(Chosen(Asking("2", 9)), ElementsAre("n2", "free"));
}

TEST_F(Preemption, ABudgetWithoutSelectorAndOneOfAnotherNamespaceGuardNothing) {
  AddNode("n1");
  Place("a", "n1", Asking("4", 1, Labels("web")));
  SetBudget("none", "web", 0, {{"spec", {{"selector", nullptr}}}});
  SetBudget("empty", "web", 0, {{"spec", {{"selector", {{"matchLabels", nullptr}}}}}});
  SetBudget("elsewhere", "web", 0, {{"metadata", {{"namespace", "other"}}}});
  EXPECT_EQ(FindFor(Asking("2", 9)).candidate.violations, 0);
}

TEST_F(Preemption, HostPortsAndAntiAffinityCanBePreemptedToo) {
  AddNode("n1");
  Json port = Asking("1", 1);
  port["spec"]["containers"][0]["ports"] = Json::array({{{"containerPort", 80}, {"hostPort", 80}}});
  Place("port", "n1", port);
  Place("shy", "n1", Asking("1", 1, {{"spec", PodTermSpec("podAntiAffinity", "web")}}));
  Place("other", "n1", Asking("1", 1));
  Json wants = Asking("1", 9, Labels("web"));
  wants["spec"]["containers"][0]["ports"] = port["spec"]["containers"][0]["ports"];
  EXPECT_THAT(FindFor(wants).candidate.victims,
              UnorderedElementsAre(&pods[{"default", "port"}], &pods[{"default", "shy"}]));
}

TEST_F(Preemption, PodsThatAreNominatedAlreadyKeepTheirRoom) {
  AddNode("n1");
  Place("a", "n1", Asking("2", 1));
  Place("b", "n1", Asking("2", 1));
  cluster.Nominate(New("first", Asking("3", 9)), "n1");
  EXPECT_EQ(FindFor(Asking("2", 9)).message, "0/1 nodes are available: 1 Insufficient cpu.");
  EXPECT_EQ(FindFor(Asking("2", 8)).kind, Kind::kNoCandidate);
  EXPECT_THAT(Chosen(Asking("2", 10)), ElementsAre("n1", "b")) << "a more important one takes it";
}

TEST_F(Preemption, APodWaitsForTheVictimsOnItsNode) {
  AddNode("n1");
  PodRecord& victim = Place("a", "n1", Asking("4", 1));
  PodRecord& preemptor = New("preemptor", Asking("2", 9));
  cluster.Nominate(preemptor, "n1");
  EXPECT_EQ(Find(preemptor).kind, Kind::kCandidate);
  victim.preempted = true;
  EXPECT_EQ(Find(preemptor).message, "not eligible due to a terminating pod on the nominated node.");
  // A new instance of the scheduler reads it from the pod.
  victim.preempted = false;
  cluster.BeginTermination(victim);
  EXPECT_EQ(Find(preemptor).kind, Kind::kCandidate) << "it terminates for another reason";
  Json condition = {{"type", "DisruptionTarget"}, {"status", "True"}, {"reason", "PreemptionByScheduler"}};
  Json document = *objects["a"]->Document();
  document["metadata"]["deletionTimestamp"] = "1970-01-01T00:00:00Z";
  document["status"]["conditions"] = Json::array({condition});
  objects["a"] = Pod(document);
  EXPECT_EQ(Find(preemptor).kind, Kind::kNotEligible);
  cluster.SetNode(Node("n1", {{"spec", {{"unschedulable", true}}}}));
  EXPECT_EQ(Find(preemptor).kind, Kind::kNoCandidate) << "its node has become hopeless";
}

TEST_F(Preemption, APolicyOfNeverIsRespected) {
  AddNode("n1");
  Place("a", "n1", Asking("4", 1));
  EXPECT_EQ(FindFor(Asking("2", 9, {{"spec", {{"preemptionPolicy", "Never"}}}})).message,
            "not eligible due to preemptionPolicy=Never.");
}

TEST_F(Preemption, AQuestionLeavesTheClusterAsItWas) {
  AddNode("n1");
  Place("a", "n1", Asking("2", 1, Labels("web")));
  Place("b", "n1", Asking("2", 1, {{"spec", PodTermSpec("podAntiAffinity", "web", "zone")}}));
  const NodeInfo& node = *cluster.FindNode("n1");
  const std::uint64_t generation = cluster.generation();
  EXPECT_EQ(FindFor(Asking("4", 9)).candidate.victims.size(), 2u);
  EXPECT_EQ(FindFor(Asking("1", 9)).candidate.victims.size(), 1u);
  EXPECT_TRUE(search.MayHelp(New("p", Asking("4", 9)), *cluster.FindNode("n1")));
  EXPECT_FALSE(search.MayHelp(New("q", Asking("5", 9)), *cluster.FindNode("n1")));
  EXPECT_EQ(node.pods, 2);
  EXPECT_EQ(node.requested.milli_cpu, 4000);
  EXPECT_EQ(cluster.generation(), generation);
}

TEST_F(Preemption, TheSearchEndsWithEnoughCandidatesAndBeginsAnywhere) {
  EXPECT_EQ(CandidatesWanted(3), 3u);
  EXPECT_EQ(CandidatesWanted(500), 100u);
  EXPECT_EQ(CandidatesWanted(5000), 500u);
  for (int i = 0; i < 400; ++i) {
    AddNode("n" + std::to_string(i));
    Place("p" + std::to_string(i), "n" + std::to_string(i), Asking("4", i == 250 ? 1 : 2));
  }
  int best = 0;
  for (int i = 0; i < 40; ++i) {
    const PreemptionResult result = FindFor(Asking("2", 9));
    EXPECT_EQ(result.considered, 100);
    best += result.candidate.node->name == "n250" ? 1 : 0;
  }
  EXPECT_GT(best, 2);
  EXPECT_LT(best, 20);
}

}  // namespace
}  // namespace terrarium::kubelet_fake::scheduling
