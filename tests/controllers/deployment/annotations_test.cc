#include "controllers/deployment/internal/annotations.h"

#include <gtest/gtest.h>

namespace terrarium::controllers::deployment {
namespace {

using api::Json;

Json Of(std::initializer_list<std::pair<std::string_view, std::string>> annotations) {
  Json out = Json::object();
  for (const auto& [key, value] : annotations) out[std::string(key)] = value;
  return out;
}

constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

TEST(DeploymentAnnotations, WhatBelongsToOneObjectIsNotCopied) {
  for (std::string_view own : {kLastApplied, kRevision, kRevisionHistory, kDesiredReplicas, kMaxReplicas,
                               kReplicasBeforeScale, kRollbackTo})
    EXPECT_FALSE(IsCopied(own)) << own;
  EXPECT_TRUE(IsCopied("kubernetes.io/change-cause"));
  EXPECT_TRUE(IsCopied("deployment.kubernetes.io/other"));
}

TEST(DeploymentAnnotations, ANewSetGetsTheDeploymentsAnnotationsAndItsRevision) {
  Json deployment = Of({{"team", "a"}, {kLastApplied, "{}"}, {kRevision, "7"}, {kReplicasBeforeScale, "3"}});
  EXPECT_EQ(NewSetChanges(deployment, Json::object(), 8), Of({{"team", "a"}, {kRevision, "8"}}));
}

TEST(DeploymentAnnotations, ASetThatHasEverythingIsLeftAlone) {
  Json deployment = Of({{"team", "a"}});
  Json set = Of({{"team", "a"}, {"other", "stays"}, {kRevision, "8"}});
  EXPECT_EQ(NewSetChanges(deployment, set, 8), Json::object());
  EXPECT_EQ(NewSetChanges(deployment, set, 3), Json::object()) << "revisions never go back";
  EXPECT_EQ(NewSetChanges(Of({{"team", "b"}}), set, 8), Of({{"team", "b"}}));
}

TEST(DeploymentAnnotations, ASetThatIsRolledBackToRemembersTheRevisionsItServed) {
  EXPECT_EQ(NewSetChanges(Json::object(), Of({{kRevision, "1"}}), 3),
            Of({{kRevision, "3"}, {kRevisionHistory, "1"}}));
  EXPECT_EQ(NewSetChanges(Json::object(), Of({{kRevision, "3"}, {kRevisionHistory, "1"}}), 5),
            Of({{kRevision, "5"}, {kRevisionHistory, "1,3"}}));
}

TEST(DeploymentAnnotations, TheHistoryForgetsItsOldestRevisionsWhenItGetsTooLong) {
  std::string full = "100000000";
  for (int i = 100000001; i < 100000200; ++i) full += "," + std::to_string(i);
  ASSERT_EQ(full.size(), 1999u);
  Json changes =
      NewSetChanges(Json::object(), Of({{kRevision, "100000200"}, {kRevisionHistory, full}}), 100000201);
  EXPECT_EQ(changes[std::string(kRevisionHistory)], full.substr(10) + ",100000200");
}

TEST(DeploymentAnnotations, AMalformedRevisionIsLeftAlone) {
  EXPECT_EQ(NewSetChanges(Of({{"team", "a"}}), Of({{kRevision, "x"}}), 2), Json::object());
  EXPECT_EQ(RevisionOf(Of({{kRevision, "x"}})), std::nullopt);
  EXPECT_EQ(RevisionOf(Json::object()), 0);
  EXPECT_EQ(RevisionOf(Of({{kRevision, "+4"}})), 4);
}

// TestGetNonNegativeInt32FromAnnotation of Kubernetes.
TEST(DeploymentAnnotations, SizesAreInt32FromZeroUp) {
  const std::pair<const char*, std::optional<std::int64_t>> cases[] = {
      {"0", 0},
      {"100", 100},
      {"2147483647", 2147483647},
      {"2147483648", std::nullopt},
      {"-1", std::nullopt},
      {"+1", std::nullopt},
      {"", std::nullopt},
      {"1.5", std::nullopt},
      {"1e3", std::nullopt},
      {" 1", std::nullopt},
      {"99999999999999999999", std::nullopt}};
  for (const auto& [text, value] : cases)
    EXPECT_EQ(ReplicasAt(Of({{kMaxReplicas, text}}), kMaxReplicas), value) << text;
  EXPECT_EQ(ReplicasAt(Json::object(), kMaxReplicas), std::nullopt);
}

// TestReplicasAnnotationsNeedUpdate of Kubernetes, and the annotation of a partial scale.
TEST(DeploymentAnnotations, OnlySizesThatDifferAreWritten) {
  ScaledSet wanted{.index = 0, .replicas = 5, .desired = 10, .max = 12, .before_scale = std::nullopt};
  EXPECT_EQ(ReplicasChanges(Json::object(), wanted), Of({{kDesiredReplicas, "10"}, {kMaxReplicas, "12"}}));
  EXPECT_EQ(ReplicasChanges(Of({{kDesiredReplicas, "10"}, {kMaxReplicas, "11"}}), wanted),
            Of({{kMaxReplicas, "12"}}));
  EXPECT_EQ(ReplicasChanges(Of({{kDesiredReplicas, "10"}, {kMaxReplicas, "12"}}), wanted), Json::object());
  wanted.before_scale = 3;
  EXPECT_EQ(ReplicasChanges(Of({{kDesiredReplicas, "10"}, {kMaxReplicas, "12"}}), wanted),
            Of({{kReplicasBeforeScale, "3"}}));
}

TEST(DeploymentAnnotations, TheSizeBeforeAScaleGoesWhenTheScaleIsComplete) {
  ScaledSet complete{.index = 0, .replicas = 5, .desired = 10, .max = 12, .before_scale = std::nullopt};
  Json left =
      Of({{kDesiredReplicas, "10"}, {kMaxReplicas, "12"}, {kReplicasBeforeScale, "not even a number"}});
  EXPECT_EQ(ReplicasChanges(left, complete), (Json{{std::string(kReplicasBeforeScale), nullptr}}));
}

// KEP-3973, kubectl skew: not copied between Deployment and ReplicaSets, even if an older kubectl has set it.
TEST(DeploymentAnnotations, ARollbackTakesTheSetsAnnotationsAndKeepsItsOwnOnes) {
  Json deployment =
      Of({{"cause", "edit"}, {"gone", "x"}, {kLastApplied, "{}"}, {kRevision, "2"}, {kRollbackTo, "1"}});
  Json set =
      Of({{"cause", "create"}, {kRevision, "1"}, {kDesiredReplicas, "3"}, {kReplicasBeforeScale, "2"}});
  EXPECT_EQ(RolledBack(deployment, set), Of({{"cause", "create"}, {kLastApplied, "{}"}, {kRevision, "2"}}));
}

TEST(DeploymentAnnotations, ARollbackIsAskedForByANumber) {
  EXPECT_EQ(RollbackAskedFor(Of({{kRollbackTo, "0"}})), 0);
  EXPECT_EQ(RollbackAskedFor(Of({{kRollbackTo, "12"}})), 12);
  EXPECT_EQ(RollbackAskedFor(Of({{kRollbackTo, "last"}})), std::nullopt);
  EXPECT_EQ(RollbackAskedFor(Json::object()), std::nullopt);
}

}  // namespace
}  // namespace terrarium::controllers::deployment
