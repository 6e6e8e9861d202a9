#include "controllers/horizontal_pod_autoscaler/internal/metric_status.h"

#include <gtest/gtest.h>

namespace terrarium::controllers::autoscaler {
namespace {

const api::Time kNow{std::chrono::seconds(1'767'225'600)};

TEST(UsageText, IsThatOfKubernetes) {
  EXPECT_EQ(UsageText("cpu", 250), "250m");
  EXPECT_EQ(UsageText("cpu", 2000), "2");
  EXPECT_EQ(UsageText("memory", 64LL * 1024 * 1024 * 1000), "64Mi");
  EXPECT_EQ(UsageText("memory", 1000), "1");
  EXPECT_EQ(UsageText("memory", 1500), "1500m");
  EXPECT_EQ(UsageText("memory", 0), "0");
}

TEST(SetCondition, ChangesTheTimeWithTheStatus) {
  Json conditions = Json::array();
  SetCondition(conditions, {"AbleToScale", true, "A", "a"}, kNow);
  SetCondition(conditions, {"AbleToScale", true, "B", "b"}, kNow + std::chrono::hours(1));
  ASSERT_EQ(conditions.size(), 1u);
  EXPECT_EQ(conditions[0]["reason"], "B");
  EXPECT_EQ(conditions[0]["lastTransitionTime"], "2026-01-01T00:00:00Z");
  SetCondition(conditions, {"AbleToScale", false, "C", "c"}, kNow + std::chrono::hours(1));
  EXPECT_EQ(conditions[0]["lastTransitionTime"], "2026-01-01T01:00:00Z");
  EXPECT_FALSE(IsConditionTrue(conditions, "AbleToScale"));
  RemoveCondition(conditions, "AbleToScale");
  EXPECT_TRUE(conditions.empty());
}

TEST(SameStatus, TakesAbsentAndEmptyForEqual) {
  const Json status = {{"currentReplicas", 0}, {"currentMetrics", nullptr}, {"desiredReplicas", 3}};
  EXPECT_TRUE(SameStatus(status, {{"desiredReplicas", 3}, {"conditions", Json::array()}}));
  EXPECT_FALSE(SameStatus(status, {{"desiredReplicas", 4}}));
  EXPECT_FALSE(SameStatus(status, {{"desiredReplicas", 3}, {"currentReplicas", 1}}));
  EXPECT_FALSE(SameStatus(Json::object(), status));
}

TEST(CurrentOf, NamesTheContainer) {
  const Json spec = Json::parse(R"({"type": "ContainerResource", "containerResource":
      {"name": "cpu", "container": "web", "target": {"type": "Utilization", "averageUtilization": 50}}})");
  Proposal proposal;
  proposal.utilization = 20;
  proposal.average = 100;
  EXPECT_EQ(CurrentOf(spec, proposal), Json::parse(R"({"type": "ContainerResource", "containerResource":
      {"name": "cpu", "container": "web", "current": {"averageUtilization": 20, "averageValue": "100m"}}})"));
}

}  // namespace
}  // namespace terrarium::controllers::autoscaler
