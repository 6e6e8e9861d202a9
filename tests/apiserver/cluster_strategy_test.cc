// Namespace, Node, PodDisruptionBudget and Lease.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/strategies.h"
#include "apiserver/strategy/namespace.h"
#include "tests/apiserver/strategy_testing.h"

namespace terrarium::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Kind;
using testing::WithSpec;

Kind Namespace() { return Kind(NamespaceStrategy(), "core.v1.Namespace", false); }
Kind Node() { return Kind(NodeStrategy(), "core.v1.Node", false); }
Kind Budget() { return Kind(PodDisruptionBudgetStrategy(), "policy.v1.PodDisruptionBudget"); }
Kind Lease() { return Kind(LeaseStrategy(), "coordination.v1.Lease"); }

TEST(NamespaceStrategy, NewNamespacesAreActiveLabelledAndHeld) {
  const Json ns = Namespace().New(R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(ns["metadata"]["labels"]["kubernetes.io/metadata.name"], "a");
  EXPECT_EQ(ns["spec"]["finalizers"], Json::array({"kubernetes"}));
  EXPECT_EQ(ns["status"]["phase"], "Active");
}

TEST(NamespaceStrategy, UpdatesKeepTheFinalizersAndTheLabel) {
  const Json old = Namespace().New(R"({"metadata":{"name":"a"}})");
  const Json changed = Namespace().Changed(old, R"({"metadata":{"labels":null},"spec":{"finalizers":[]}})");
  EXPECT_EQ(changed["spec"]["finalizers"], Json::array({"kubernetes"}));
  EXPECT_EQ(changed["metadata"]["labels"]["kubernetes.io/metadata.name"], "a");
}

TEST(NamespaceStrategy, FinalizersAreQualifiedOrStandard) {
  const Json old = Namespace().New(R"({"metadata":{"name":"a","resourceVersion":"1"}})");
  Json object = old;
  object["spec"]["finalizers"] = Json::array({"kubernetes", "example.com/x", "odd"});
  const FieldErrors errors = ValidateNamespaceFinalize(object, old);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].field, "spec.finalizers[2]");
  EXPECT_EQ(errors[0].message,
            "Invalid value: \"odd\": name is neither a standard finalizer name nor is it fully qualified");
}

TEST(NamespaceStrategy, PhaseFollowsTheDeletionTimestamp) {
  const Json old = Namespace().New(R"({"metadata":{"name":"a"}})");
  EXPECT_THAT(Namespace().StatusErrors(old, R"({"phase":"Terminating"})"),
              ElementsAre("status.Phase: Invalid value: \"Terminating\": may only be 'Active' if "
                          "`deletionTimestamp` is empty"));
}

TEST(NodeStrategy, AllocatableIsCapacityAndPodCidrsAgree) {
  const Json node = Node().New(
      R"({"metadata":{"name":"n"},"spec":{"podCIDR":"10.0.0.0/24"},"status":{"capacity":{"cpu":"4"}}})");
  EXPECT_EQ(node["status"]["allocatable"], Json::parse(R"({"cpu":"4"})"));
  EXPECT_EQ(node["spec"]["podCIDRs"], Json::array({"10.0.0.0/24"}));
}

TEST(NodeStrategy, StatusComesWithTheNodeAndIsThenKept) {
  const Json old = Node().New(R"({"metadata":{"name":"n"},"status":{"capacity":{"cpu":"4"}}})");
  EXPECT_FALSE(NodeStrategy().HasStatus());
  EXPECT_EQ(old["status"]["capacity"], Json::parse(R"({"cpu":"4"})"));
  const Json changed =
      Node().Changed(old, R"({"spec":{"unschedulable":true},"status":{"capacity":{"cpu":"8"}}})");
  EXPECT_EQ(changed["status"], old["status"]);
}

TEST(NodeStrategy, TaintsAndCidrsAreChecked) {
  EXPECT_THAT(
      Node().CreateErrors(R"({"metadata":{"name":"n"},"spec":{"taints":[{"key":"a","effect":"Odd"},
                  {"key":"a","value":"1","effect":"Odd"}],"podCIDRs":["10.0.0.1/24"]}})"),
      ElementsAre(
          "metadata.taints[0].effect: Unsupported value: \"Odd\": supported values: \"NoSchedule\", "
          "\"PreferNoSchedule\", \"NoExecute\"",
          "metadata.taints[1].effect: Unsupported value: \"Odd\": supported values: \"NoSchedule\", "
          "\"PreferNoSchedule\", \"NoExecute\"",
          R"(metadata.taints[1]: Duplicate value: {"effect":"Odd","key":"a","value":"1"}: taints must be )"
          R"(unique by key and effect pair)",
          "spec.podCIDRs[0]: Invalid value: \"10.0.0.1/24\": must not have bits set beyond the prefix "
          "length"));
}

TEST(NodeStrategy, CountedResourcesAreWhole) {
  EXPECT_THAT(
      Node().CreateErrors(R"({"metadata":{"name":"n"},"status":{"capacity":{"pods":"1500m","cpu":"1500m"},
                  "allocatable":{"cpu":"-1"}}})"),
      ElementsAre("status.capacity.pods: Invalid value: \"1500m\": must be an integer",
                  "status.allocatable.cpu: Invalid value: \"-1\": must be greater than or equal to 0"));
}

TEST(NodeStrategy, PodCidrAndProviderAreSetOnce) {
  const Json old =
      Node().New(R"({"metadata":{"name":"n"},"spec":{"podCIDR":"10.0.0.0/24","providerID":"p"}})");
  EXPECT_THAT(
      Node().UpdateErrors(old, R"({"spec":{"podCIDR":"10.0.1.0/24","podCIDRs":null,"providerID":"q"}})"),
      ElementsAre(
          "spec.podCIDRs: Forbidden: node updates may not change podCIDR except from \"\" to valid",
          "spec.providerID: Forbidden: node updates may not change providerID except from \"\" to valid"));
  EXPECT_THAT(Node().UpdateErrors(old, R"({"spec":{"unschedulable":true}})"), IsEmpty());
}

TEST(PodDisruptionBudgetStrategy, OneLimitOnly) {
  EXPECT_THAT(
      Budget().CreateErrors(WithSpec({R"("minAvailable":1,"maxUnavailable":"10%")"})),
      ElementsAre(
          R"(spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":"10%",)"
          R"("UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set)"));
  EXPECT_THAT(
      Budget().CreateErrors(WithSpec({R"("minAvailable":"101%","unhealthyPodEvictionPolicy":"X")"})),
      ElementsAre(
          "spec.minAvailable: Invalid value: \"101%\": must not be greater than 100%",
          "spec.unhealthyPodEvictionPolicy: Unsupported value: \"X\": supported values: \"AlwaysAllow\", "
          "\"IfHealthyBudget\""));
  EXPECT_FALSE(PodDisruptionBudgetStrategy().AllowUnconditionalUpdate());
}

TEST(PodDisruptionBudgetStrategy, ConditionsAreComplete) {
  const Json old = Budget().New(WithSpec({R"("minAvailable":1)"}));
  EXPECT_THAT(
      Budget().StatusErrors(old, R"({"disruptionsAllowed":-1,"conditions":[{"type":"A","status":"Maybe"}]})"),
      ElementsAre(
          "status.conditions[0].status: Unsupported value: \"Maybe\": supported values: \"False\", \"True\", "
          "\"Unknown\"",
          "status.conditions[0].lastTransitionTime: Required value",
          "status.conditions[0].reason: Required value",
          "status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0"));
}

TEST(LeaseStrategy, DurationsArePositive) {
  EXPECT_THAT(Lease().CreateErrors(WithSpec({R"("leaseDurationSeconds":0,"leaseTransitions":-1)"})),
              ElementsAre("spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
                          "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"));
  EXPECT_TRUE(LeaseStrategy().AllowCreateOnUpdate());
}

TEST(LeaseStrategy, CoordinationIsDroppedWhileItsFeatureIsOff) {
  const Json lease = Lease().New(WithSpec({R"("strategy":"OldestEmulationVersion","holderIdentity":"h")"}));
  EXPECT_EQ(lease["spec"], Json::parse(R"({"holderIdentity":"h"})"));
}

}  // namespace
}  // namespace terrarium::apiserver
