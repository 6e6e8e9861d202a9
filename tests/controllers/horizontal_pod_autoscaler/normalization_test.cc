#include "controllers/horizontal_pod_autoscaler/internal/normalization.h"

#include <gtest/gtest.h>

#include "api/json.h"

namespace terrarium::controllers::autoscaler {
namespace {

using namespace std::chrono_literals;

class Normalization : public ::testing::Test {
 protected:
  Normalization() {
    spec_.min = 1;
    spec_.max = 100;
  }
  int Size(int current, int desired) {
    last_ = Normalize(spec_, current, desired, history_, now_);
    return last_.replicas;
  }
  // Scales to the allowed size and lets time pass.
  int Scale(int& current, int desired, api::Duration pause = 15s) {
    const int next = Size(current, desired);
    if (next != current && spec_.behavior) history_.RecordScaling(*spec_.behavior, current, next, now_);
    now_ += pause;
    return current = next;
  }
  static ScalingRules Rules(std::vector<ScalingPolicy> policies, int window = 0,
                            SelectPolicy select = SelectPolicy::kMax) {
    return {window, select, std::move(policies)};
  }

  AutoscalerSpec spec_;
  ScaleHistory history_;
  api::Time now_{std::chrono::seconds(1'767'225'600)};
  Normalized last_;
};

TEST_F(Normalization, WithoutABehaviorATargetDoublesOrGrowsToFour) {
  EXPECT_EQ(Size(1, 50), 4);
  EXPECT_EQ(last_.limits.reason, "ScaleUpLimit");
  EXPECT_TRUE(last_.limited);
  EXPECT_TRUE(last_.waits);
  EXPECT_EQ(Size(10, 50), 20);
  spec_.max = 15;
  EXPECT_EQ(Size(10, 50), 15);
  EXPECT_EQ(last_.limits.reason, "TooManyReplicas");
  EXPECT_FALSE(last_.waits);
}

TEST_F(Normalization, WithoutABehaviorATargetShrinksAfterFiveMinutes) {
  int current = Size(10, 10);
  now_ += 1s;
  EXPECT_EQ(Scale(current, 3, 299s), 10);
  EXPECT_EQ(last_.able.reason, "ScaleDownStabilized");
  EXPECT_TRUE(last_.waits);
  EXPECT_EQ(Scale(current, 3, 1s), 10);
  EXPECT_EQ(Scale(current, 3), 3);
  EXPECT_EQ(last_.able.reason, "ReadyForNewScale");
  EXPECT_EQ(last_.limits.reason, "DesiredWithinRange");
  EXPECT_FALSE(last_.waits);
}

TEST_F(Normalization, KeepsToTheMinimum) {
  spec_.min = 2;
  now_ += 1h;
  EXPECT_EQ(Size(5, 1), 2);
  EXPECT_EQ(last_.limits.reason, "TooFewReplicas");
}

TEST_F(Normalization, TakesTheLargestOrTheSmallestPolicy) {
  const std::vector<ScalingPolicy> policies = {{false, 4, 60}, {true, 50, 60}};
  spec_.behavior = {Rules(policies), Rules(policies)};
  EXPECT_EQ(Size(20, 100), 30);
  EXPECT_EQ(Size(20, 1), 10);
  spec_.behavior = {Rules(policies, 0, SelectPolicy::kMin), Rules(policies, 0, SelectPolicy::kMin)};
  EXPECT_EQ(Size(20, 100), 24);
  EXPECT_EQ(Size(20, 1), 16);
  EXPECT_EQ(last_.limits.reason, "ScaleDownLimit");
  EXPECT_TRUE(last_.waits);
}

TEST_F(Normalization, ADisabledDirectionIsNotWaitedFor) {
  const ScalingRules disabled = Rules({{true, 100, 15}}, 0, SelectPolicy::kDisabled);
  spec_.behavior = {disabled, disabled};
  EXPECT_EQ(Size(20, 100), 20);
  EXPECT_EQ(last_.limits.reason, "ScaleUpLimit");
  EXPECT_FALSE(last_.waits);
  EXPECT_EQ(Size(20, 1), 20);
  EXPECT_FALSE(last_.waits);
}

TEST_F(Normalization, APolicyCountsFromTheSizeAtTheStartOfItsPeriod) {
  spec_.behavior = {Rules({{false, 4, 60}}), Rules({{false, 2, 60}})};
  int current = 10;
  EXPECT_EQ(Scale(current, 100), 14);
  EXPECT_EQ(Scale(current, 100), 14);
  EXPECT_EQ(Scale(current, 100), 14);
  EXPECT_EQ(Scale(current, 100), 14);
  EXPECT_EQ(Scale(current, 100), 18);
  now_ += 1h;
  EXPECT_EQ(Scale(current, 1), 16);
  EXPECT_EQ(Scale(current, 1), 16);
}

TEST_F(Normalization, AWindowTakesTheSafestRecommendation) {
  spec_.behavior = {Rules({{true, 100, 15}}, 60), Rules({{true, 100, 15}}, 120)};
  history_.RecordFirst(10, now_);
  int current = 10;
  now_ += 15s;
  EXPECT_EQ(Scale(current, 15), 10);
  EXPECT_EQ(last_.able.reason, "ScaleUpStabilized");
  EXPECT_TRUE(last_.waits);
  EXPECT_EQ(Scale(current, 12), 10);
  EXPECT_EQ(Scale(current, 20), 10);
  EXPECT_EQ(Scale(current, 20), 12);  // the first recommendation is older than a minute
  EXPECT_EQ(Scale(current, 5), 12);
  EXPECT_EQ(last_.able.reason, "ScaleDownStabilized");
  EXPECT_EQ(Scale(current, 5, 90s), 12);
  EXPECT_EQ(Scale(current, 5), 5);
}

TEST(ReadAutoscalerSpec, ReadsToleranceByItsGate) {
  const Json document = Json::parse(R"({"spec": {"maxReplicas": 5, "behavior": {
      "scaleUp": {"tolerance": "50m", "policies": [{"type": "Percent", "value": 10, "periodSeconds": 60}]},
      "scaleDown": {"selectPolicy": "Disabled"}}}})");
  const AutoscalerSpec spec = ReadAutoscalerSpec(document, api::FeatureGates());
  EXPECT_DOUBLE_EQ(spec.tolerances.up, 0.05);
  EXPECT_DOUBLE_EQ(spec.tolerances.down, 0.1);
  EXPECT_EQ(spec.behavior->down.stabilization_seconds, 300);
  EXPECT_EQ(spec.behavior->down.select, SelectPolicy::kDisabled);
  EXPECT_TRUE(spec.behavior->up.policies.at(0).percent);
  const auto off = *api::FeatureGates().With("HPAConfigurableTolerance=false");
  EXPECT_DOUBLE_EQ(ReadAutoscalerSpec(document, off).tolerances.up, 0.1);
}

}  // namespace
}  // namespace terrarium::controllers::autoscaler
