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

Kind DaemonSet() { return Kind(DaemonSetStrategy(), "apps.v1.DaemonSet"); }
constexpr const char* kGeneration = "deprecated.daemonset.template.generation";

TEST(DaemonSetStrategy, OneUnavailableIsTheDefault) {
  EXPECT_EQ(DaemonSet().New(WithSpec({kSelected}))["spec"]["updateStrategy"],
            Json::parse(R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":1,"maxSurge":0}})"));
}

TEST(DaemonSetStrategy, TemplateGenerationCountsTemplatesOnly) {
  const Json first = DaemonSet().New(WithSpec({kSelected}));
  EXPECT_EQ(first["metadata"]["annotations"][kGeneration], "1");
  const Json second = DaemonSet().Changed(first, R"({"spec":{"minReadySeconds":3}})");
  EXPECT_EQ(second["metadata"]["annotations"][kGeneration], "1");
  const Json third = DaemonSet().Changed(
      second, R"({"metadata":{"annotations":null},"spec":{"template":{"spec":{"hostNetwork":true}}}})");
  EXPECT_EQ(third["metadata"]["annotations"][kGeneration], "2");
}

TEST(DaemonSetStrategy, ExactlyOneOfSurgeAndUnavailable) {
  EXPECT_THAT(
      DaemonSet().CreateErrors(WithSpec({kSelected, R"("updateStrategy":{"rollingUpdate":{"maxSurge":1}})"})),
      ElementsAre("spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when "
                  "maxUnavailable is non-zero"));
  EXPECT_THAT(DaemonSet().CreateErrors(
                  WithSpec({kSelected, R"("updateStrategy":{"rollingUpdate":{"maxUnavailable":0}})"})),
              ElementsAre("spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 "
                          "when maxSurge is 0"));
}

TEST(DaemonSetStrategy, MissingSelectorMatchesNothing) {
  EXPECT_THAT(
      DaemonSet().CreateErrors(WithSpec({kTemplate})),
      ElementsAre(
          "spec.template.metadata.labels: Invalid value: {\"app\":\"x\"}: `selector` does not match template "
          "`labels`"));
}

TEST(DaemonSetStrategy, SelectorIsImmutable) {
  const Json old = DaemonSet().New(WithSpec({kSelected}));
  EXPECT_THAT(
      DaemonSet().UpdateErrors(
          old,
          R"({"spec":{"selector":{"matchLabels":{"app":"y"}},"template":{"metadata":{"labels":{"app":"y"}}}}})"),
      ElementsAre(R"(spec.selector: Invalid value: {"matchLabels":{"app":"y"}}: field is immutable)"));
  EXPECT_THAT(DaemonSet().UpdateErrors(old, R"({"spec":{"template":{"spec":{"hostNetwork":true}}}})"),
              IsEmpty());
}

}  // namespace
}  // namespace terrarium::apiserver
