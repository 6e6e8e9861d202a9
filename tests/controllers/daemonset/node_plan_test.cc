#include "controllers/daemonset/internal/node_plan.h"

#include <deque>

#include <gtest/gtest.h>

#include "tests/controllers/runtime/fake_client.h"

namespace terrarium::controllers::daemonset {
namespace {

using api::Json;
using namespace std::chrono_literals;

constexpr api::Time kNow{1'000s};
constexpr NodeFit kFits{true, true}, kMayStay{false, true}, kUnfitNode{false, false};

struct PodOf {
  std::string name;
  std::string hash = "new";
  bool available = true;
  bool deleting = false;
  api::Phase phase = api::Phase::kRunning;
  bool bound = true;
  std::chrono::seconds created = 100s;
  std::chrono::seconds ready_for = 500s;
  std::string generation = {};
};

class NodePlanTest : public ::testing::Test {
 protected:
  NodePlan Plan(NodeFit fit, const std::vector<PodOf>& pods, bool exists = true) {
    pods_.clear();
    std::vector<const DaemonPod*> given;
    for (const PodOf& pod : pods) {
      Json labels = {{"controller-revision-hash", pod.hash}};
      if (!pod.generation.empty()) labels["pod-template-generation"] = pod.generation;
      pods_.push_back(
          {.pod = controllers_testing::MakeObject(
               {{"metadata", {{"name", pod.name}, {"namespace", "default"}, {"labels", labels}}}}),
           .bound = pod.bound,
           .deleting = pod.deleting,
           .phase = pod.phase,
           .ready = pod.available,
           .ready_since = kNow - pod.ready_for,
           .created = api::Time(pod.created)});
      given.push_back(&pods_.back());
    }
    return PlanNode(exists, fit, std::move(given), rules_, kNow);
  }
  static std::string Names(const std::vector<const DaemonPod*>& pods) {
    std::string names;
    for (const DaemonPod* pod : pods) names += (names.empty() ? "" : " ") + pod->pod->header().name;
    return names;
  }
  // "create", pods to delete, and what the node adds to the status.
  static std::string Text(const NodePlan& plan) {
    std::string text;
    auto add = [&](bool is, const std::string& word) {
      if (is) text += (text.empty() ? "" : " ") + word;
    };
    add(plan.create, "create");
    add(!plan.ended.empty(), "ended(" + Names(plan.ended) + ")");
    add(!plan.surplus.empty(), "surplus(" + Names(plan.surplus) + ")");
    add(plan.desired, "D");
    add(plan.current, "C");
    add(plan.misscheduled, "M");
    add(plan.ready, "R");
    add(plan.available, "A");
    add(plan.updated, "U");
    return text;
  }

  std::deque<DaemonPod> pods_;
  PlanRules rules_{.hash = "new", .generation = "", .min_ready = 10s, .surge = false};
};

using Phase = api::Phase;

TEST_F(NodePlanTest, WithoutSurge) {
  struct Case {
    const char* name;
    NodeFit fit;
    std::vector<PodOf> pods;
    std::string plan;
  };
  const Case cases[] = {
      {"no pod", kFits, {}, "create D"},
      {"no pod wanted", kMayStay, {}, ""},
      {"a pod", kFits, {{"a"}}, "D C R A U"},
      {"an old pod", kFits, {{"a", "old"}}, "D C R A"},
      {"an unready pod", kFits, {{.name = "a", .available = false}}, "D C U"},
      {"a pod that is ready for too short a time", kFits, {{.name = "a", .ready_for = 9s}}, "D C R U"},
      {"a pod that is ready just long enough", kFits, {{.name = "a", .ready_for = 10s}}, "D C R A U"},
      {"a terminating pod is waited for", kFits, {{.name = "a", .deleting = true}}, "D C R A U"},
      {"a terminating pod that has ended is not",
       kFits,
       {{.name = "a", .deleting = true, .phase = Phase::kSucceeded}},
       "create D"},
      {"a failed pod", kFits, {{.name = "a", .available = false, .phase = Phase::kFailed}}, "ended(a) D C U"},
      {"a succeeded pod",
       kFits,
       {{.name = "a", .available = false, .phase = Phase::kSucceeded}},
       "ended(a) D C U"},
      {"two pods: the oldest stays",
       kFits,
       {{.name = "a", .created = 200s}, {.name = "b", .created = 100s}},
       "surplus(a) D C R A U"},
      {"two pods: a bound one stays",
       kFits,
       {{.name = "a", .bound = false, .created = 100s}, {.name = "b", .created = 200s}},
       "surplus(a) D C R A U"},
      {"three pods of one age: by name", kFits, {{"b"}, {"c"}, {"a"}}, "surplus(b c) D C R A U"},
      {"a pod that may stay", kMayStay, {{"a"}}, "M"},
      {"a failed pod that may stay", kMayStay, {{.name = "a", .phase = Phase::kFailed}}, "ended(a) M"},
      {"a pod that may not stay", kUnfitNode, {{"a"}, {.name = "b", .deleting = true}}, "surplus(a) M"},
  };
  for (const Case& c : cases) EXPECT_EQ(Text(Plan(c.fit, c.pods)), c.plan) << c.name;
}

TEST_F(NodePlanTest, WithSurge) {
  rules_.surge = true;
  struct Case {
    const char* name;
    NodeFit fit;
    std::vector<PodOf> pods;
    std::string plan;
  };
  const PodOf ready_old{.name = "old", .hash = "old", .created = 100s};
  const PodOf unready_old{.name = "old", .hash = "old", .available = false, .created = 100s};
  const PodOf ready_new{.name = "new", .created = 200s};
  const PodOf unready_new{.name = "new", .available = false, .created = 200s};
  const Case cases[] = {
      {"no pod", kFits, {}, "create D"},
      {"a terminating pod is not waited for", kFits, {{.name = "a", .deleting = true}}, "create D C R A U"},
      {"a terminating pod that is not replaced", kMayStay, {{.name = "a", .deleting = true}}, "M"},
      {"a failed pod is replaced beside it",
       kFits,
       {{.name = "a", .available = false, .phase = Phase::kFailed}},
       "create ended(a) D C U"},
      {"both stay while the new pod is not available", kFits, {ready_old, unready_new}, "D C R A"},
      {"the old pod goes when the new one is available",
       kFits,
       {ready_old, ready_new},
       "surplus(old) D C R A"},
      {"the old pod goes when it is not ready", kFits, {unready_old, unready_new}, "surplus(old) D C"},
      {"two new pods", kFits, {ready_new, {.name = "newer", .created = 300s}}, "surplus(newer) D C R A U"},
      {"two old pods and a new one",
       kFits,
       {ready_old, {.name = "older", .hash = "old", .created = 50s}, unready_new},
       "surplus(old) D C R A"},
  };
  for (const Case& c : cases) EXPECT_EQ(Text(Plan(c.fit, c.pods)), c.plan) << c.name;
}

TEST_F(NodePlanTest, UnboundPodsOfANodeThatDoesNotExistAreDeleted) {
  const std::vector<PodOf> pods = {
      {"bound"}, {.name = "unbound", .bound = false}, {.name = "going", .deleting = true, .bound = false}};
  EXPECT_EQ(Text(Plan(kUnfitNode, pods, false)), "surplus(unbound)");
}

TEST_F(NodePlanTest, StepsOfARollout) {
  const PodOf ready_old{.name = "old", .hash = "old"};
  const PodOf unready_old{.name = "old", .hash = "old", .available = false};
  const PodOf ready_new{"new"};
  const PodOf unready_new{.name = "new", .available = false};
  const PodOf going{.name = "going", .hash = "old", .deleting = true};
  using enum RolloutStep;
  struct Case {
    const char* name;
    NodeFit fit;
    std::vector<PodOf> pods;
    RolloutStep in_place;
    RolloutStep surge;
    bool exists = true;
  };
  const Case cases[] = {
      {"no pod, none wanted", kMayStay, {}, kNone, kNone},
      {"no pod", kFits, {}, kWait, kNone},
      {"a terminating pod", kFits, {going}, kWait, kNone},
      {"an available new pod", kFits, {ready_new}, kNone, kNone},
      {"a new pod that is not available", kFits, {unready_new}, kWait, kNone},
      {"an available old pod", kFits, {ready_old}, kCandidate, kCandidate},
      {"an old pod that is not available", kFits, {unready_old}, kReplace, kReplace},
      {"an old pod beside a terminating one", kFits, {ready_old, going}, kCandidate, kCandidate},
      {"old and available new", kFits, {ready_old, ready_new}, kWait, kRetire},
      {"old and new that is not available", kFits, {ready_old, unready_new}, kWait, kWait},
      {"two old pods", kFits, {ready_old, {.name = "x", .hash = "old"}}, kWait, kWait},
      {"an available old pod where none is wanted", kMayStay, {ready_old}, kCandidate, kUnfit},
      {"an old pod that is not available where none is wanted", kMayStay, {unready_old}, kReplace, kRetire},
      {"an old pod of a lost node", kUnfitNode, {ready_old}, kCandidate, kLost, false},
  };
  for (const Case& c : cases) {
    rules_.surge = false;
    EXPECT_EQ(Plan(c.fit, c.pods, c.exists).step, c.in_place) << c.name;
    rules_.surge = true;
    EXPECT_EQ(Plan(c.fit, c.pods, c.exists).step, c.surge) << c.name << ", surge";
  }
}

TEST_F(NodePlanTest, APodIsUpdatedByItsHashOrItsGeneration) {
  rules_.generation = "4";
  EXPECT_TRUE(Plan(kFits, {{"a"}}).updated);
  EXPECT_TRUE(Plan(kFits, {{.name = "a", .hash = "old", .generation = "4"}}).updated);
  EXPECT_FALSE(Plan(kFits, {{.name = "a", .hash = "old", .generation = "3"}}).updated);
  rules_ = {.hash = "", .generation = "", .min_ready = {}, .surge = false};
  EXPECT_FALSE(Plan(kFits, {{.name = "a", .hash = ""}}).updated);
}

TEST_F(NodePlanTest, ChangesWhenAReadyPodBecomesAvailable) {
  EXPECT_EQ(Plan(kFits, {{.name = "a", .ready_for = 4s}}).changes_at, kNow + 6s);
  EXPECT_EQ(Plan(kFits, {{.name = "a", .ready_for = 10s}}).changes_at, kNoTime);
  EXPECT_EQ(Plan(kFits, {{.name = "a", .available = false}}).changes_at, kNoTime);
}

}  // namespace
}  // namespace terrarium::controllers::daemonset
