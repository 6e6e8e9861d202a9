#include "controllers/disruption/internal/budget_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_access.h"
#include "controllers/runtime/go_text.h"

namespace terrarium::controllers::disruption {
namespace {

using api::Json;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::Pair;

const api::Time kNow{seconds(1'767'225'600)};

SelectedPods Ready(std::initializer_list<const char*> names) {
  SelectedPods pods;
  for (const char* name : names) pods.Put({.name = name, .ready = true, .deleting = false, .controller = {}});
  return pods;
}

TEST(BudgetStatus, HowManyMustBeHealthy) {
  struct Case {
    const char* name;
    Json spec;
    std::int64_t pods;
    std::int64_t scale;
    bool needs_scale;
    std::int64_t expected_pods;
    std::int64_t expected_healthy;
  };
  const std::vector<Case> cases = {
      {"minAvailable counts the pods there are", {{"minAvailable", 2}}, 3, 10, false, 3, 2},
      {"minAvailable may be more than there are", {{"minAvailable", 5}}, 3, 0, false, 3, 5},
      {"minAvailable in percent is of the scale, rounded up", {{"minAvailable", "50%"}}, 1, 3, true, 3, 2},
      {"maxUnavailable is of the scale", {{"maxUnavailable", 1}}, 1, 10, true, 10, 9},
      {"maxUnavailable in percent is rounded up", {{"maxUnavailable", "30%"}}, 0, 5, true, 5, 3},
      {"maxUnavailable of more than all", {{"maxUnavailable", 7}}, 5, 5, true, 5, 0},
      {"maxUnavailable of all", {{"maxUnavailable", "100%"}}, 5, 5, true, 5, 0},
      {"neither", Json::object(), 5, 5, false, 0, 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(NeedsScale(c.spec), c.needs_scale);
    Expected expected = ExpectedOf(c.spec, c.pods, c.scale);
    EXPECT_EQ(expected.pods, c.expected_pods);
    EXPECT_EQ(expected.healthy, c.expected_healthy);
  }
}

TEST(BudgetStatus, WhatMayBeDisruptedIsWhatIsHealthyAboveTheNeed) {
  struct Case {
    std::int64_t pods, need, healthy, allowed;
    const char* reason;
  };
  const std::vector<Case> cases = {
      {3, 2, 3, 1, "SufficientPods"},   {3, 3, 3, 0, "InsufficientPods"}, {3, 3, 1, 0, "InsufficientPods"},
      {0, 0, 0, 0, "InsufficientPods"}, {0, 0, 2, 0, "InsufficientPods"},
  };
  Json budget = {{"metadata", {{"generation", 4}}}};
  for (const Case& c : cases) {
    Json status = NextStatus(budget, {c.pods, c.need}, c.healthy, {}, kNow);
    EXPECT_EQ(status["disruptionsAllowed"], c.allowed);
    EXPECT_EQ(status["currentHealthy"], c.healthy);
    EXPECT_EQ(status["desiredHealthy"], c.need);
    EXPECT_EQ(status["expectedPods"], c.pods);
    EXPECT_EQ(status["observedGeneration"], 4);
    const Json& condition = status["conditions"][0];
    EXPECT_EQ(condition["type"], "DisruptionAllowed");
    EXPECT_EQ(condition["status"], c.allowed > 0 ? "True" : "False");
    EXPECT_EQ(condition["reason"], c.reason);
    EXPECT_EQ(condition["observedGeneration"], 4);
  }
}

TEST(BudgetStatus, TheSameAgainIsTheSameStatus) {
  Json budget = {{"metadata", {{"generation", 1}}}};
  budget["status"] = NextStatus(budget, {3, 2}, 3, {}, kNow);
  EXPECT_EQ(NextStatus(budget, {3, 2}, 3, {}, kNow + seconds(60)), budget["status"]);
  Json changed = NextStatus(budget, {3, 2}, 2, {}, kNow + seconds(60));
  EXPECT_EQ(changed["conditions"][0]["lastTransitionTime"], api::FormatTime(kNow + seconds(60)));
}

TEST(BudgetStatus, AnEvictedPodDoesNotCountUntilItGoesOrItsTimeIsUp) {
  SelectedPods pods = Ready({"fresh", "old", "kept"});
  pods.Put({.name = "going", .ready = true, .deleting = true, .controller = {}});
  Json status = {{"disruptedPods",
                  {{"fresh", api::FormatTime(kNow - seconds(10))},
                   {"going", api::FormatTime(kNow - seconds(10))},
                   {"gone", api::FormatTime(kNow - seconds(10))},
                   {"old", api::FormatTime(kNow - seconds(121))}}}};
  Disrupted disrupted = DisruptedOf(status, pods, kNow);
  EXPECT_THAT(disrupted.pods, ElementsAre(Pair("fresh", api::FormatTime(kNow - seconds(10)))));
  EXPECT_THAT(disrupted.not_deleted, ElementsAre("old"));
  EXPECT_EQ(disrupted.still_healthy, 1);
  EXPECT_EQ(disrupted.next_expiry, kNow + seconds(110));
}

TEST(BudgetStatus, AtTheVeryEndOfItsTimeAnEvictedPodIsListedAndCountsAgain) {
  Json status = {{"disruptedPods", {{"a", api::FormatTime(kNow - seconds(120))}}}};
  Disrupted disrupted = DisruptedOf(status, Ready({"a"}), kNow);
  EXPECT_EQ(disrupted.pods.size(), 1u);
  EXPECT_EQ(disrupted.still_healthy, 0);
}

TEST(BudgetStatus, WhatCannotBeComputedAllowsNothing) {
  Json budget = {{"metadata", {{"generation", 2}}}};
  budget["status"] = NextStatus(budget, {3, 2}, 3, {}, kNow);
  Json failed =
      FailedStatus(budget, "jobs.batch does not implement the scale subresource", kNow + seconds(5));
  EXPECT_EQ(failed["disruptionsAllowed"], 0);
  EXPECT_EQ(failed["currentHealthy"], 3) << "the rest is left as it was";
  ASSERT_EQ(failed["conditions"].size(), 1u);
  EXPECT_EQ(failed["conditions"][0]["status"], "False");
  EXPECT_EQ(failed["conditions"][0]["reason"], "SyncFailed");
  EXPECT_EQ(failed["conditions"][0]["message"], "jobs.batch does not implement the scale subresource");
  EXPECT_EQ(failed["conditions"][0]["lastTransitionTime"], api::FormatTime(kNow + seconds(5)));
}

TEST(BudgetStatus, SelectorsArePrintedAsGoDoes) {
  EXPECT_EQ(GoText(nullptr), "nil");
  Json selector = {{"matchLabels", {{"b", "2"}, {"a", "1"}}},
                   {"matchExpressions", {{{"key", "tier"}, {"operator", "In"}, {"values", {"x", "y"}}}}}};
  EXPECT_EQ(
      GoText(&selector),
      "&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{"
      "LabelSelectorRequirement{Key:tier,Operator:In,Values:[x y],},},}");
}

}  // namespace
}  // namespace terrarium::controllers::disruption
