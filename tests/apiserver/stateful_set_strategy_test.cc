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
using testing::WithSpec;

Kind StatefulSet() { return Kind(StatefulSetStrategy(), "apps.v1.StatefulSet"); }

constexpr const char* kService = R"("serviceName":"svc")";

TEST(StatefulSetStrategy, UpdateStrategyIsDefaultedWithItsPartition) {
  EXPECT_EQ(StatefulSet().New(WithSpec({kSelected, kService}))["spec"]["updateStrategy"],
            Json::parse(R"({"type":"RollingUpdate","rollingUpdate":{"partition":0}})"));
  EXPECT_EQ(StatefulSet().New(
                WithSpec({kSelected, R"("updateStrategy":{"type":"OnDelete"})"}))["spec"]["updateStrategy"],
            Json::parse(R"({"type":"OnDelete"})"));
}

TEST(StatefulSetStrategy, ClaimsAreMountedByNameAndHaveAKind) {
  const std::string spec = WithSpec(
      {R"("selector":{"matchLabels":{"app":"x"}})",
       R"("template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"i",
          "volumeMounts":[{"name":"data","mountPath":"/data"}]}]}})",
       R"("volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],
          "resources":{"requests":{"storage":"1Gi"}}}}])"});
  EXPECT_THAT(StatefulSet().CreateErrors(spec), IsEmpty());
  const Json claim = StatefulSet().New(spec)["spec"]["volumeClaimTemplates"][0];
  EXPECT_EQ(claim["kind"], "PersistentVolumeClaim");
  EXPECT_EQ(claim["apiVersion"], "v1");
  EXPECT_EQ(claim["status"]["phase"], "Pending");
}

TEST(StatefulSetStrategy, ClaimsAreChecked) {
  EXPECT_THAT(
      StatefulSet().CreateErrors(
          WithSpec({kSelected, R"("volumeClaimTemplates":[{"metadata":{"name":"d"}}])"})),
      ElementsAre(
          "spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required",
          "spec.volumeClaimTemplates[0].spec.resources[storage]: Required value"));
}

TEST(StatefulSetStrategy, SpecRules) {
  EXPECT_THAT(
      StatefulSet().CreateErrors(WithSpec({kSelected, R"("podManagementPolicy":"X")"})),
      ElementsAre("spec.podManagementPolicy: Invalid value: \"X\": must be 'OrderedReady' or 'Parallel'"));
  EXPECT_THAT(
      StatefulSet().CreateErrors(WithSpec({kSelected, R"("updateStrategy":{"type":"X"})"})),
      ElementsAre("spec.updateStrategy: Invalid value: {\"Type\":\"X\",\"RollingUpdate\":null}: must be "
                  "'RollingUpdate' or 'OnDelete'"));
  EXPECT_THAT(StatefulSet().CreateErrors(WithSpec({kSelected, R"("ordinals":{"start":-1},"replicas":-2)"})),
              ElementsAre("spec.replicas: Invalid value: -2: must be greater than or equal to 0",
                          "spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0"));
}

TEST(StatefulSetStrategy, MaxUnavailableHasADefaultWhileItsFeatureIsOn) {
  constexpr const char* kOn = "MaxUnavailableStatefulSet=true";
  const Json without = StatefulSet().New(WithSpec({kSelected}));
  EXPECT_EQ(without["spec"]["updateStrategy"]["rollingUpdate"], Json::parse(R"({"partition":0})"));
  Kind on = StatefulSet();
  on.Gates(kOn);
  const Json with = on.New(WithSpec({kSelected}));
  EXPECT_EQ(with["spec"]["updateStrategy"]["rollingUpdate"],
            Json::parse(R"({"maxUnavailable":1,"partition":0})"));
  // An update of a set that was stored while the gate was off leaves it as it is.
  const Json changed = on.Changed(without, R"({"spec":{"replicas":3}})");
  EXPECT_EQ(changed["spec"]["updateStrategy"], without["spec"]["updateStrategy"]);
  const Json removed =
      on.Changed(with, R"({"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":null}}}})");
  EXPECT_EQ(removed["spec"]["updateStrategy"], with["spec"]["updateStrategy"]);
}

TEST(StatefulSetStrategy, OnlyAFewFieldsMayChange) {
  const Json old = StatefulSet().New(WithSpec({kSelected, kService}));
  EXPECT_THAT(StatefulSet().UpdateErrors(old, R"({"spec":{"replicas":5,"minReadySeconds":1}})"), IsEmpty());
  EXPECT_THAT(
      StatefulSet().UpdateErrors(old, R"({"spec":{"serviceName":"other"}})"),
      ElementsAre(
          "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', "
          "'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
          "'minReadySeconds' are forbidden"));
}

TEST(StatefulSetStrategy, AvailableAboveReadyIsRefused) {
  const Json old = StatefulSet().New(WithSpec({kSelected}));
  EXPECT_THAT(
      StatefulSet().StatusErrors(old, R"({"replicas":2,"availableReplicas":1})"),
      ElementsAre("status.availableReplicas: Invalid value: 1: cannot be greater than status.readyReplicas"));
}

TEST(StatefulSetStrategy, NamesAreDnsLabels) {
  EXPECT_THAT(
      StatefulSet().CreateErrors(R"({"metadata":{"name":"a.b"},"spec":{)" + std::string(kSelected) + "}}"),
      ElementsAre("metadata.name: Invalid value: \"a.b\": must not contain dots"));
}

}  // namespace
}  // namespace terrarium::apiserver
