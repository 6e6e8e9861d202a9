#include "api/base/feature_gates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace terrarium::api {
namespace {

using ::testing::HasSubstr;

TEST(GateTable, IsSortedByNameWithoutRepeats) {
  auto gates = AllGates();
  EXPECT_TRUE(std::is_sorted(gates.begin(), gates.end(), [](const GateDef& a, const GateDef& b) { return a.name < b.name; }));
  std::set<std::string_view> names;
  for (const GateDef& gate : gates) EXPECT_TRUE(names.insert(gate.name).second) << gate.name;
}

TEST(GateTable, AlphaIsOffAndTheRestIsOnByDefault) {
  for (const GateDef& gate : AllGates()) EXPECT_EQ(gate.default_on, gate.stage != GateStage::kAlpha) << gate.name;
}

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
  EXPECT_THAT(FeatureGates().With("PodDeletionCost=maybe").status().message, HasSubstr("PodDeletionCost=maybe"));
  EXPECT_THAT(FeatureGates().With("PodDeletionCost").status().message, HasSubstr("missing bool value"));
}

TEST(FeatureGates, AGateNeedsWhatItDependsOn) {
  EXPECT_TRUE(FeatureGates().With("DeploymentPodReplacementPolicy=true").ok());
  auto unmet = FeatureGates().With("DeploymentPodReplacementPolicy=true,DeploymentReplicaSetTerminatingReplicas=false");
  ASSERT_FALSE(unmet.ok());
  EXPECT_THAT(unmet.status().message, HasSubstr("[DeploymentReplicaSetTerminatingReplicas]"));
}

}  // namespace
}  // namespace terrarium::api
