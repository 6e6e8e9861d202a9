#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/strategies.h"
#include "tests/apiserver/strategy_testing.h"

namespace terrarium::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Kind;
using testing::kSelected;
using testing::kTemplate;
using testing::WithSpec;

Kind Deployment() { return Kind(DeploymentStrategy(), "apps.v1.Deployment"); }

TEST(DeploymentStrategy, RollingUpdateIsDefaultedToAQuarter) {
  const Json object = Deployment().New(WithSpec({kSelected}));
  EXPECT_EQ(
      object["spec"]["strategy"],
      Json::parse(R"({"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"}})"));
  EXPECT_EQ(object["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"], "IfNotPresent");
}

TEST(DeploymentStrategy, RecreateGetsNoRollingUpdate) {
  const Json object = Deployment().New(WithSpec({kSelected, R"("strategy":{"type":"Recreate"})"}));
  EXPECT_EQ(object["spec"]["strategy"], Json::parse(R"({"type":"Recreate"})"));
}

TEST(DeploymentStrategy, EmptySpecLacksSelectorLabelsAndContainers) {
  EXPECT_THAT(
      Deployment().CreateErrors(WithSpec({})),
      ElementsAre(
          "spec.selector: Required value",
          "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
          "spec.template.spec.containers: Required value"));
}

TEST(DeploymentStrategy, EmptySelectorIsRefused) {
  EXPECT_THAT(Deployment().CreateErrors(WithSpec({R"("selector":{})", kTemplate})),
              ElementsAre("spec.selector: Invalid value: {}: empty selector is invalid for deployment"));
}

TEST(DeploymentStrategy, SelectorThatCannotBeReadHidesTheTemplate) {
  EXPECT_THAT(
      Deployment().CreateErrors(
          WithSpec({R"("selector":{"matchExpressions":[{"key":"app","operator":"In"}]})"})),
      ElementsAre(
          "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is "
          "'In' or "
          "'NotIn'",
          R"(spec.selector: Invalid value: {"matchExpressions":[{"key":"app","operator":"In"}]}: invalid label selector)"));
}

TEST(DeploymentStrategy, UnknownStrategyPrintsGosStruct) {
  EXPECT_THAT(Deployment().CreateErrors(WithSpec({kSelected, R"("strategy":{"type":"Nope"})"})),
              ElementsAre(R"(spec.strategy: Unsupported value: {"Type":"Nope","RollingUpdate":null}: )"
                          R"(supported values: "Recreate", "RollingUpdate")"));
}

TEST(DeploymentStrategy, SurgeAndUnavailableCannotBothBeZero) {
  EXPECT_THAT(
      Deployment().CreateErrors(
          WithSpec({kSelected, R"("strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":"0%"}})"})),
      ElementsAre(
          R"(spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0)"));
}

TEST(DeploymentStrategy, DeadlineMustExceedMinReadySeconds) {
  EXPECT_THAT(
      Deployment().CreateErrors(WithSpec({kSelected, R"("minReadySeconds":600)"})),
      ElementsAre("spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds"));
}

TEST(DeploymentStrategy, PodReplacementPolicyTakesItsTwoValues) {
  Kind kind = Deployment();
  EXPECT_THAT(kind.CreateErrors(WithSpec({kSelected, R"("podReplacementPolicy":"TerminationComplete")"})),
              IsEmpty());
  EXPECT_THAT(kind.CreateErrors(WithSpec({kSelected, R"("podReplacementPolicy":"TerminationStarted")"})),
              IsEmpty());
  EXPECT_THAT(kind.CreateErrors(WithSpec({kSelected, R"("podReplacementPolicy":"Later")"})),
              ElementsAre(R"(spec.podReplacementPolicy: Unsupported value: "Later": supported values: )"
                          R"("TerminationComplete", "TerminationStarted")"));
}

TEST(DeploymentStrategy, SelectorIsImmutable) {
  const Json old = Deployment().New(WithSpec({kSelected}));
  EXPECT_THAT(
      Deployment().UpdateErrors(
          old,
          R"({"spec":{"selector":{"matchLabels":{"app":"y"}},"template":{"metadata":{"labels":{"app":"y"}}}}})"),
      ElementsAre(R"(spec.selector: Invalid value: {"matchLabels":{"app":"y"}}: field is immutable)"));
}

TEST(DeploymentStrategy, StatusCountersFitTogether) {
  const Json old = Deployment().New(WithSpec({kSelected}));
  EXPECT_THAT(
      Deployment().StatusErrors(old, R"({"replicas":-1})"),
      ElementsAre("status.replicas: Invalid value: -1: must be greater than or equal to 0",
                  "status.updatedReplicas: Invalid value: 0: cannot be greater than status.replicas",
                  "status.readyReplicas: Invalid value: 0: cannot be greater than status.replicas",
                  "status.availableReplicas: Invalid value: 0: cannot be greater than status.replicas"));
}

TEST(DeploymentStrategy, CollisionCountDoesNotGoBack) {
  Json old = Deployment().New(WithSpec({kSelected}));
  old["status"]["collisionCount"] = 2;
  EXPECT_THAT(Deployment().StatusErrors(old, R"({"collisionCount":1})"),
              ElementsAre("status.collisionCount: Invalid value: 1: cannot be decremented"));
  EXPECT_THAT(Deployment().StatusErrors(old, R"({"collisionCount":null})"),
              ElementsAre("status.collisionCount: Invalid value: 0: cannot be decremented"));
}

TEST(DeploymentStrategy, AnnotationsBumpTheGenerationAndLabelsDoNot) {
  const Json old = Deployment().New(WithSpec({kSelected}));
  const Json annotated = Deployment().Changed(old, R"({"metadata":{"annotations":{"a":"b"}}})");
  const Json labelled = Deployment().Changed(old, R"({"metadata":{"labels":{"a":"b"}}})");
  EXPECT_TRUE(DeploymentStrategy().BumpsGeneration(annotated, old));
  EXPECT_FALSE(DeploymentStrategy().BumpsGeneration(labelled, old));
}

TEST(DeploymentStrategy, NameThatIsNotADnsLabelGivesAWarning) {
  const auto warnings =
      Deployment().CreateWarnings(R"({"metadata":{"name":"a.b"},"spec":{)" + std::string(kSelected) + "}}");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], ::testing::StartsWith("metadata.name: this is used in Pod names and hostnames"));
}

}  // namespace
}  // namespace terrarium::apiserver
