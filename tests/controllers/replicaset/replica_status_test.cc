#include "controllers/replicaset/internal/replica_status.h"

#include <gtest/gtest.h>

#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers::replicaset {
namespace {

using api::Json;

const api::Time kNow = controllers_testing::FakeRuntime::kStart;

Json Owner(const Json& status) { return {{"metadata", {{"generation", 4}}}, {"status", status}}; }

TEST(ReplicaStatus, NumbersThatAre0AreAbsent) {
  EXPECT_EQ(NextStatus(Owner({{"replicas", 0}}), {}, std::nullopt, kNow),
            Json({{"replicas", 0}, {"observedGeneration", 4}}));
  EXPECT_EQ(NextStatus(Owner({{"replicas", 3}, {"readyReplicas", 3}, {"availableReplicas", 3}}),
                       {.replicas = 1}, std::nullopt, kNow),
            Json({{"replicas", 1}, {"observedGeneration", 4}}));
}

TEST(ReplicaStatus, HasAllCounts) {
  ReplicaCounts counts{.replicas = 5, .fully_labeled = 4, .ready = 3, .available = 2, .terminating = 1};
  EXPECT_EQ(NextStatus(Owner(Json::object()), counts, std::nullopt, kNow), Json::parse(R"({
    "replicas": 5, "fullyLabeledReplicas": 4, "readyReplicas": 3, "availableReplicas": 2, "terminatingReplicas": 1,
    "observedGeneration": 4})"));
}

// KEP-3973, unit: with the gate off the field is absent, and an old value is removed.
TEST(ReplicaStatus, TerminatingReplicasAre0OrAbsent) {
  EXPECT_EQ(NextStatus(Owner(Json::object()), {.terminating = 0}, std::nullopt, kNow)["terminatingReplicas"],
            0);
  EXPECT_FALSE(NextStatus(Owner({{"terminatingReplicas", 2}}), {}, std::nullopt, kNow)
                   .contains("terminatingReplicas"));
}

TEST(ReplicaStatus, AFailureIsAConditionUntilItIsOver) {
  const Json other = {{"type", "Other"}, {"status", "True"}};
  Json status =
      NextStatus(Owner({{"conditions", {other}}}), {}, ReplicaFailure{"FailedCreate", "no room"}, kNow);
  EXPECT_EQ(status["conditions"], Json::array({other,
                                               {{"type", "ReplicaFailure"},
                                                {"status", "True"},
                                                {"lastTransitionTime", "2026-01-01T00:00:00Z"},
                                                {"reason", "FailedCreate"},
                                                {"message", "no room"}}}));
  Json later =
      NextStatus(Owner(status), {}, ReplicaFailure{"FailedDelete", "other"}, kNow + std::chrono::hours(1));
  EXPECT_EQ(later, status) << "one that stands stays as it is";
  EXPECT_EQ(NextStatus(Owner(status), {}, std::nullopt, kNow)["conditions"], Json::array({other}));
}

TEST(ReplicaStatus, WithoutConditionsThereIsNoList) {
  Json status = NextStatus(Owner(Json::object()), {}, ReplicaFailure{"FailedCreate", "no room"}, kNow);
  EXPECT_FALSE(NextStatus(Owner(status), {}, std::nullopt, kNow).contains("conditions"));
}

}  // namespace
}  // namespace terrarium::controllers::replicaset
