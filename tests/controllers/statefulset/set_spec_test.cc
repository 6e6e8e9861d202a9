#include "controllers/statefulset/internal/set_spec.h"

#include <gtest/gtest.h>

namespace terrarium::controllers::statefulset {
namespace {

using api::Json;

// The numbers of Kubernetes' getStatefulSetMaxUnavailable.
TEST(MaxUnavailable, IsANumberOrAShareOfTheReplicasButAtLeastOne) {
  struct Case {
    Json value;
    int replicas;
    int pods;
  };
  const Case cases[] = {{3, 10, 3},    {"10%", 25, 2}, {"100%", 5, 5}, {"50%", 5, 2},
                        {"10%", 5, 1}, {"1%", 1, 1},   {5, 3, 5},      {"30%", 10, 3}};
  for (const Case& each : cases)
    EXPECT_EQ(MaxUnavailable(&each.value, each.replicas), each.pods) << each.value << " of " << each.replicas;
  EXPECT_EQ(MaxUnavailable(nullptr, 10), 1);
}

TEST(SetSpec, IsReadFromTheDocument) {
  const Json set = Json::parse(R"({"spec": {
    "replicas": 4, "ordinals": {"start": 5}, "podManagementPolicy": "Parallel", "minReadySeconds": 7,
    "revisionHistoryLimit": 2,
    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 3, "maxUnavailable": 2}},
    "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Retain"}}})");
  SetSpec spec = ReadSetSpec(set, api::FeatureGates());
  EXPECT_EQ(spec.replicas, 4);
  EXPECT_EQ(spec.start, 5);
  EXPECT_EQ(spec.End(), 8);
  EXPECT_TRUE(spec.parallel);
  EXPECT_EQ(spec.min_ready, std::chrono::seconds(7));
  EXPECT_FALSE(spec.on_delete);
  EXPECT_EQ(spec.partition, 3);
  EXPECT_EQ(spec.history_limit, 2);
  EXPECT_TRUE(spec.retention.deletes_when_deleted);
  EXPECT_FALSE(spec.retention.deletes_when_scaled);
  // The field counts only while its gate is on.
  EXPECT_EQ(spec.max_unavailable, std::nullopt);
  spec = ReadSetSpec(set, *api::FeatureGates().With("MaxUnavailableStatefulSet=true"));
  EXPECT_EQ(spec.max_unavailable, 2);
}

TEST(SetSpec, OnDeleteHasNoPartition) {
  const Json set = Json::parse(R"({"spec": {"replicas": 2, "updateStrategy": {"type": "OnDelete"}}})");
  const SetSpec spec = ReadSetSpec(set, api::FeatureGates());
  EXPECT_TRUE(spec.on_delete);
  EXPECT_EQ(spec.partition, std::nullopt);
  EXPECT_EQ(spec.UpdateFrom(), 0);
}

}  // namespace
}  // namespace terrarium::controllers::statefulset
