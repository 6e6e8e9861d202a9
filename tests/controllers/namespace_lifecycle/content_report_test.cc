#include "controllers/namespace_lifecycle/internal/content_report.h"

#include <gtest/gtest.h>

#include "api/json_access.h"

namespace terrarium::controllers::namespace_lifecycle {
namespace {

using api::Json;
using std::chrono::seconds;

const ServedResource kPods{"pods", "", "v1", "Pod"};
const ServedResource kConfigMaps{"configmaps", "", "v1", "ConfigMap"};
const ServedResource kDeployments{"deployments", "apps", "v1", "Deployment"};
const api::Time kNow{seconds(1'767'225'600)};

Json ConditionOf(const Json& ns, std::string_view type) {
  for (const Json& condition : api::ListAt(ns, "status", "conditions"))
    if (api::StringAt(condition, "type") == type) return condition;
  return nullptr;
}

ResourceReport Held(int objects, const std::string& finalizer) {
  return {.estimate_seconds = 15, .remaining = objects, .finalizers = {{finalizer, objects}}, .error = ""};
}

TEST(ContentReport, AnEmptyNamespaceHasFiveConditionsWithoutFailure) {
  Json ns = {{"status", {{"phase", "Terminating"}}}};
  EXPECT_TRUE(SetConditions(ns, {}, kNow));
  std::vector<std::string> conditions;
  for (const Json& condition : api::ListAt(ns, "status", "conditions"))
    conditions.push_back(condition["type"].get<std::string>() + "=" + condition["status"].get<std::string>() +
                         " " + condition["reason"].get<std::string>() + ": " +
                         condition["message"].get<std::string>());
  const std::vector<std::string> expected = {
      "NamespaceDeletionDiscoveryFailure=False ResourcesDiscovered: All resources successfully discovered",
      "NamespaceDeletionGroupVersionParsingFailure=False ParsedGroupVersions: "
      "All legacy kube types successfully parsed",
      "NamespaceDeletionContentFailure=False ContentDeleted: "
      "All content successfully deleted, may be waiting on finalization",
      "NamespaceContentRemaining=False ContentRemoved: All content successfully removed",
      "NamespaceFinalizersRemaining=False ContentHasNoFinalizers: All content-preserving finalizers "
      "finished"};
  EXPECT_EQ(conditions, expected);
  EXPECT_FALSE(SetConditions(ns, {}, kNow + seconds(9))) << "the same report changes nothing";
}

TEST(ContentReport, RemainingContentIsReportedInKubernetesWords) {
  ContentReport report;
  Add(report, kDeployments, Held(1, "custom.io/finalizer"));
  Add(report, kConfigMaps, Held(2, "custom.io/finalizer"));
  Json ns = Json::object();
  EXPECT_TRUE(SetConditions(ns, report, kNow));
  Json content = ConditionOf(ns, "NamespaceContentRemaining");
  EXPECT_EQ(content["status"], "True");
  EXPECT_EQ(content["reason"], "SomeResourcesRemain");
  EXPECT_EQ(content["message"],
            "Some resources are remaining: configmaps. has 2 resource instances, "
            "deployments.apps has 1 resource instances");
  Json finalizers = ConditionOf(ns, "NamespaceFinalizersRemaining");
  EXPECT_EQ(finalizers["reason"], "SomeFinalizersRemain");
  EXPECT_EQ(
      finalizers["message"],
      "Some content in the namespace has finalizers remaining: custom.io/finalizer in 3 resource instances");
}

TEST(ContentReport, WhilePodsTerminateTheTotalsAreNotReported) {
  ContentReport report;
  Add(report, kPods, {.estimate_seconds = 30, .remaining = 1, .finalizers = {}, .error = ""});
  Json ns = Json::object();
  SetConditions(ns, report, kNow);
  EXPECT_EQ(ConditionOf(ns, "NamespaceContentRemaining")["status"], "False");
}

TEST(ContentReport, FailuresAreSortedAndCounted) {
  ContentReport report;
  Add(report, kDeployments,
      {.estimate_seconds = 0, .remaining = 0, .finalizers = {}, .error = "b is broken"});
  Add(report, kConfigMaps, {.estimate_seconds = 0, .remaining = 0, .finalizers = {}, .error = "a is broken"});
  Json ns = Json::object();
  SetConditions(ns, report, kNow);
  Json failure = ConditionOf(ns, "NamespaceDeletionContentFailure");
  EXPECT_EQ(failure["status"], "True");
  EXPECT_EQ(failure["reason"], "ContentDeletionFailed");
  EXPECT_EQ(failure["message"], "Failed to delete all resource types, 2 remaining: a is broken, b is broken");
}

TEST(ContentReport, AConditionKeepsItsTimeWhileItsStatusStays) {
  ContentReport two;
  Add(two, kConfigMaps, Held(2, "f/f"));
  ContentReport one;
  Add(one, kConfigMaps, Held(1, "f/f"));
  Json ns = Json::object();
  SetConditions(ns, two, kNow);
  EXPECT_TRUE(SetConditions(ns, one, kNow + seconds(8)));
  EXPECT_EQ(ConditionOf(ns, "NamespaceContentRemaining")["lastTransitionTime"], api::FormatTime(kNow));
  EXPECT_TRUE(SetConditions(ns, {}, kNow + seconds(16)));
  EXPECT_EQ(ConditionOf(ns, "NamespaceContentRemaining")["lastTransitionTime"],
            api::FormatTime(kNow + seconds(16)));
}

TEST(ContentReport, ObjectsThatStayNeedAReason) {
  struct Case {
    const char* name;
    std::int64_t estimate;
    int remaining;
    std::map<std::string, int> finalizers;
    std::int64_t estimate_then;
    std::string error;
  };
  const std::vector<Case> cases = {
      {"nothing stays", 30, 0, {}, 0, ""},
      {"pods in their grace period", 30, 2, {}, 30, ""},
      {"finalizers are given time", 0, 2, {{"f/f", 1}}, 15, ""},
      {"grace periods count before finalizers", 30, 2, {{"f/f", 1}}, 30, ""},
      {"no reason at all",
       0,
       1,
       {},
       0,
       "unexpected items still remain in namespace: shop for gvr: apps/v1, Resource=deployments"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    ResourceReport report = JudgeRemaining(kDeployments, "shop", c.estimate, c.remaining, c.finalizers);
    EXPECT_EQ(report.estimate_seconds, c.estimate_then);
    EXPECT_EQ(report.remaining, c.remaining);
    EXPECT_EQ(report.error, c.error);
  }
}

TEST(ContentReport, TheEstimateEndsWhenTheNamespaceHasBeenGoingForThatLong) {
  EXPECT_EQ(EstimateForPods(30, seconds(0)), 30);
  EXPECT_EQ(EstimateForPods(30, seconds(29)), 30);
  EXPECT_EQ(EstimateForPods(30, seconds(30)), 0);
  EXPECT_EQ(EstimateForPods(0, seconds(0)), 0);
}

}  // namespace
}  // namespace terrarium::controllers::namespace_lifecycle
