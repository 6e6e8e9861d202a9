#include "controllers/pod_gc/internal/removal.h"

#include <gtest/gtest.h>

#include "api/core_v1/pod.h"
#include "api/json_access.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::StringAt;

const api::Time kNow = *api::ParseTime("2026-01-01T00:00:00Z");

Json Pod(const char* phase) {
  return {{"metadata", {{"name", "web"}, {"uid", "u1"}, {"generation", 2}}}, {"status", {{"phase", phase}}}};
}

struct FailureCase {
  const char* name;
  const char* gates;
  const char* phase;
  RemovalReason reason;
  bool fails;
  bool condition;
};

TEST(FailurePatch, FollowsGatesPhaseAndReason) {
  const char* both = "PodDisruptionConditions=true,JobPodReplacementPolicy=true";
  const char* replacement_only = "PodDisruptionConditions=false,JobPodReplacementPolicy=true";
  const char* conditions_only = "PodDisruptionConditions=true,JobPodReplacementPolicy=false";
  const char* neither = "PodDisruptionConditions=false,JobPodReplacementPolicy=false";
  const FailureCase cases[] = {
      {"an orphan fails with a condition", both, "Running", RemovalReason::kOrphaned, true, true},
      {"conditions alone are enough", conditions_only, "Running", RemovalReason::kOrphaned, true, true},
      {"replacement alone gives no condition", replacement_only, "Running", RemovalReason::kOrphaned, true,
       false},
      {"with neither it goes as it is", neither, "Running", RemovalReason::kOrphaned, false, false},
      {"an ended pod keeps its phase", both, "Succeeded", RemovalReason::kOrphaned, false, false},
      {"a failed one too", both, "Failed", RemovalReason::kTerminated, false, false},
      {"an unscheduled pod fails without a condition", both, "Pending", RemovalReason::kUnscheduled, true,
       false},
      {"out of service likewise", both, "Running", RemovalReason::kOutOfService, true, false},
  };
  for (const FailureCase& c : cases) {
    SCOPED_TRACE(c.name);
    auto patch = FailurePatch(Pod(c.phase), c.reason, *api::FeatureGates().With(c.gates), kNow);
    ASSERT_EQ(patch.has_value(), c.fails);
    if (!patch) continue;
    EXPECT_EQ(StringAt(*patch, "metadata", "uid"), "u1");
    EXPECT_EQ(StringAt(*patch, "status", "phase"), "Failed");
    EXPECT_EQ((*patch)["status"]["observedGeneration"], 2);
    const Json* condition = api::FindCondition(*patch, "DisruptionTarget");
    ASSERT_EQ(condition != nullptr, c.condition);
    if (condition == nullptr) continue;
    EXPECT_EQ(StringAt(*condition, "reason"), "DeletionByPodGC");
    EXPECT_EQ(StringAt(*condition, "message"), "PodGC: node no longer exists");
  }
}

TEST(HeldByFinalizersOnly, OnlyWhenEndedAndDeletedWithoutGrace) {
  Json pod = Pod("Failed");
  EXPECT_FALSE(HeldByFinalizersOnly(pod));
  pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  pod["metadata"]["deletionGracePeriodSeconds"] = 30;
  EXPECT_FALSE(HeldByFinalizersOnly(pod));
  pod["metadata"]["deletionGracePeriodSeconds"] = 0;
  EXPECT_TRUE(HeldByFinalizersOnly(pod));
  pod["status"]["phase"] = "Running";
  EXPECT_FALSE(HeldByFinalizersOnly(pod));
}

TEST(ConditionChange, MovesTheTransitionTimeOnlyWithTheStatus) {
  const api::PodCondition wanted{.type = "T", .status = "True", .reason = "R", .message = "M"};
  Json pod = Pod("Running");
  Json change = *api::ConditionChange(pod, wanted, kNow);
  EXPECT_EQ(StringAt(change, "lastTransitionTime"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(change["observedGeneration"], 2);
  pod["status"]["conditions"] = Json::array({change});
  EXPECT_FALSE(api::ConditionChange(pod, wanted, kNow));
  pod["status"]["conditions"][0]["reason"] = "Other";
  EXPECT_FALSE(api::ConditionChange(pod, wanted, kNow)->contains("lastTransitionTime"));
  pod["status"]["conditions"][0]["status"] = "False";
  EXPECT_TRUE(api::ConditionChange(pod, wanted, kNow)->contains("lastTransitionTime"));
}

}  // namespace
}  // namespace terrarium::controllers
