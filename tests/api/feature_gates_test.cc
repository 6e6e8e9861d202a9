#include "api/base/feature_gates.h"

#include <algorithm>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace terrarium::api {
namespace {

using ::testing::HasSubstr;

TEST(GateTable, IsSortedByNameWithoutRepeats) {
  auto gates = AllGates();
  EXPECT_TRUE(std::is_sorted(gates.begin(), gates.end(),
                             [](const GateDef& a, const GateDef& b) { return a.name < b.name; }));
  std::set<std::string_view> names;
  for (const GateDef& gate : gates) EXPECT_TRUE(names.insert(gate.name).second) << gate.name;
}

// Kubernetes 1.36 has one beta gate of ours that is off by default.
TEST(GateTable, AlphaIsOffAndTheRestIsOnByDefault) {
  for (const GateDef& gate : AllGates())
    EXPECT_EQ(gate.default_on, gate.stage != GateStage::kAlpha && gate.name != "MaxUnavailableStatefulSet")
        << gate.name;
}

// The stage of each gate according to the graduation criteria of its KEP.
class KepGates : public ::testing::Test {
 protected:
  static std::string Of(std::string_view name) {
    for (const GateDef& gate : AllGates())
      if (gate.name == name) {
        EXPECT_EQ(FeatureGates().Enabled(name), gate.default_on);
        const char* const stages[] = {"alpha", "beta", "stable"};
        return std::string(stages[static_cast<int>(gate.stage)]) + (gate.default_on ? " on" : " off");
      }
    return "there is none";
  }
};

TEST_F(KepGates, Kep5882AlphaTheGateIsDisabledByDefault) {
  EXPECT_EQ(Of("DeploymentPodReplacementPolicy"), "alpha off");
}
TEST_F(KepGates, Kep3973BetaTheGateIsEnabledByDefault) {
  EXPECT_EQ(Of("DeploymentReplicaSetTerminatingReplicas"), "beta on");
}
TEST_F(KepGates, Kep3939BetaTheGateIsEnabledByDefault) {
  EXPECT_EQ(Of("JobPodReplacementPolicy"), "stable on");
}
TEST_F(KepGates, Kep3189TheGateIsAlphaAndDisabledByDefault) {
  EXPECT_EQ(Of("DownscalePodPicker"), "alpha off");
}
TEST_F(KepGates, Kep2255TheGateIsEnabledByDefault) { EXPECT_EQ(Of("PodDeletionCost"), "beta on"); }

TEST(GateTable, DependenciesNameOtherGatesOfTheTable) {
  FeatureGates gates;
  for (const GateDef& gate : AllGates()) {
    if (gate.needs.empty()) continue;
    EXPECT_NE(gate.needs, gate.name);
    EXPECT_TRUE(gates.values().contains(std::string(gate.needs))) << gate.needs;
  }
}

TEST(FeatureGates, AssignmentsOverrideDefaultsAndTheLastOneWins) {
  auto gates = FeatureGates().With("PodDeletionCost=false, DownscalePodPicker=true,PodDeletionCost=t");
  ASSERT_TRUE(gates.ok());
  EXPECT_TRUE(gates->Enabled(gate::kPodDeletionCost));
  EXPECT_TRUE(gates->Enabled(gate::kDownscalePodPicker));
  EXPECT_FALSE(FeatureGates().Enabled(gate::kDownscalePodPicker));
}

TEST(FeatureGates, UnknownGatesAndBadValuesAreNamed) {
  EXPECT_EQ(FeatureGates().With("Nope=true").status().message, "unrecognized feature gate: Nope");
  EXPECT_THAT(FeatureGates().With("PodDeletionCost=maybe").status().message,
              HasSubstr("PodDeletionCost=maybe"));
  EXPECT_THAT(FeatureGates().With("PodDeletionCost").status().message, HasSubstr("missing bool value"));
}

TEST(FeatureGates, AGateNeedsWhatItDependsOn) {
  EXPECT_TRUE(FeatureGates().With("DeploymentPodReplacementPolicy=true").ok());
  auto unmet = FeatureGates().With(
      "DeploymentPodReplacementPolicy=true,DeploymentReplicaSetTerminatingReplicas=false");
  ASSERT_FALSE(unmet.ok());
  EXPECT_THAT(unmet.status().message, HasSubstr("[DeploymentReplicaSetTerminatingReplicas]"));
}

}  // namespace
}  // namespace terrarium::api
