#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/strategies.h"
#include "tests/apiserver/strategy_testing.h"

namespace terrarium::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Kind;
using testing::WithSpec;

Kind Quota() { return Kind(ResourceQuotaStrategy(), "core.v1.ResourceQuota"); }

TEST(ResourceQuotaStrategy, EveryKindOfLimitIsTaken) {
  EXPECT_THAT(Quota().CreateErrors(WithSpec(
                  {R"("hard":{"pods":"4","cpu":"2","requests.memory":"1Gi","limits.ephemeral-storage":"1Gi",
                      "services.nodeports":"0","hugepages-2Mi":"4Mi","requests.hugepages-2Mi":"4Mi",
                      "requests.example.com/gpu":"2","count/jobs.batch":"3","requests.storage":"5Gi"})"})),
              IsEmpty());
  EXPECT_THAT(Quota().CreateErrors(WithSpec({})), IsEmpty());
}

TEST(ResourceQuotaStrategy, LimitsAreChecked) {
  EXPECT_THAT(Quota().CreateErrors(WithSpec({R"("hard":{"pods":"-1"})"})),
              ElementsAre("spec.hard[pods]: Invalid value: \"-1\": must be greater than or equal to 0"));
  EXPECT_THAT(Quota().CreateErrors(WithSpec({R"("hard":{"pods":"1500m"})"})),
              ElementsAre("spec.hard[pods]: Invalid value: \"1500m\": must be an integer"));
  EXPECT_THAT(
      Quota().CreateErrors(WithSpec({R"("hard":{"storage":"1"})"})),
      ElementsAre("spec.hard[storage]: Invalid value: \"storage\": must be a standard resource for quota"));
  EXPECT_THAT(
      Quota().CreateErrors(WithSpec({R"("hard":{"chairs":"1"})"})),
      ElementsAre("spec.hard[chairs]: Invalid value: \"chairs\": must be a standard resource type or fully "
                  "qualified",
                  "spec.hard[chairs]: Invalid value: \"chairs\": must be a standard resource for quota"));
}

TEST(ResourceQuotaStrategy, ScopesMustBeKnownAndFitTheLimitsAndEachOther) {
  EXPECT_THAT(
      Quota().CreateErrors(WithSpec({R"("hard":{"pods":"1"},"scopes":["BestEffort","NotTerminating"])"})),
      IsEmpty());
  EXPECT_THAT(Quota().CreateErrors(WithSpec({R"("scopes":["Sometimes"])"})),
              ElementsAre("spec.scopes: Invalid value: [\"Sometimes\"]: unsupported scope"));
  EXPECT_THAT(
      Quota().CreateErrors(WithSpec({R"("hard":{"requests.cpu":"1"},"scopes":["BestEffort"])"})),
      ElementsAre("spec.scopes: Invalid value: [\"BestEffort\"]: unsupported scope applied to resource"));
  EXPECT_THAT(Quota().CreateErrors(WithSpec({R"("hard":{"count/pods":"1"},"scopes":["BestEffort"])"})),
              IsEmpty());
  EXPECT_THAT(
      Quota().CreateErrors(WithSpec({R"("scopes":["Terminating","NotTerminating"])"})),
      ElementsAre("spec.scopes: Invalid value: [\"Terminating\",\"NotTerminating\"]: conflicting scopes"));
}

TEST(ResourceQuotaStrategy, ScopeSelectorsMustBeKnownAndFit) {
  const auto errors = [](std::string_view hard, std::string_view expressions) {
    return Quota().CreateErrors(
        WithSpec({"\"hard\":{" + std::string(hard) + "}",
                  "\"scopeSelector\":{\"matchExpressions\":[" + std::string(expressions) + "]}"}));
  };
  const std::string at = "spec.scopeSelector.matchExpressions";
  EXPECT_THAT(errors("\"pods\":\"1\"", R"({"scopeName":"PriorityClass","operator":"In","values":["high"]})"),
              IsEmpty());
  EXPECT_THAT(
      errors("", R"({"scopeName":"Terminating","operator":"DoesNotExist"})"),
      ElementsAre(at + ".operator: Invalid value: \"DoesNotExist\": must be 'Exists' when scope is any of "
                       "ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
                       "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
                       "ResourceQuotaScopeCrossNamespacePodAffinity"));
  EXPECT_THAT(
      errors("", R"({"scopeName":"PriorityClass","operator":"In"})"),
      ElementsAre(at +
                  ".values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' "
                  "for scope selector"));
  EXPECT_THAT(
      errors("", R"({"scopeName":"PriorityClass","operator":"Exists","values":["a"]})"),
      ElementsAre(at + ".values: Invalid value: [\"a\"]: must be no value when `operator` is 'Exist' or "
                       "'DoesNotExist' for scope selector"));
  EXPECT_THAT(errors("", R"({"scopeName":"PriorityClass","operator":"Near"})"),
              ElementsAre(at + ".operator: Invalid value: \"Near\": not a valid selector operator"));
  EXPECT_THAT(
      errors("\"secrets\":\"1\"", R"({"scopeName":"BestEffort","operator":"Exists"})"),
      ElementsAre(at + ": Invalid value: {\"MatchExpressions\":[{\"ScopeName\":\"BestEffort\",\"Operator\":"
                       "\"Exists\",\"Values\":null}]}: unsupported scope applied to resource"));
  EXPECT_THAT(errors("", R"({"scopeName":"BestEffort","operator":"Exists"},
                            {"scopeName":"NotBestEffort","operator":"Exists"})"),
              ElementsAre(at + ": Invalid value: null: conflicting scopes"));
}

TEST(ResourceQuotaStrategy, ScopesStayAndLimitsMayChange) {
  const Json old = Quota().New(WithSpec({R"("hard":{"pods":"1"},"scopes":["BestEffort","Terminating"])"}));
  EXPECT_THAT(
      Quota().UpdateErrors(old, R"({"spec":{"hard":{"pods":"2"},"scopes":["Terminating","BestEffort"]}})"),
      IsEmpty());
  EXPECT_THAT(Quota().UpdateErrors(old, R"({"spec":{"scopes":["BestEffort"]}})"),
              ElementsAre("spec.scopes: Invalid value: [\"BestEffort\"]: field is immutable"));
}

TEST(ResourceQuotaStrategy, StatusIsCheckedAsLimitsAre) {
  const Json old = Quota().New(WithSpec({R"("hard":{"pods":"1"})"}));
  EXPECT_THAT(Quota().StatusErrors(old, R"({"hard":{"pods":"1"},"used":{"pods":"-1"}})"),
              ElementsAre("status.used[pods]: Invalid value: \"-1\": must be greater than or equal to 0"));
}

TEST(ResourceQuotaStrategy, WarnsOfRequestsAboveLimits) {
  EXPECT_THAT(Quota().CreateWarnings(WithSpec(
                  {R"("hard":{"cpu":"2","limits.cpu":"1","requests.memory":"1Gi","limits.memory":"2Gi"})"})),
              ElementsAre("ResourceQuota cpu (2) should be less than limits.cpu (1)"));
}

}  // namespace
}  // namespace terrarium::apiserver
