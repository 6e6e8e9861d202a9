// HorizontalPodAutoscaler of autoscaling/v2, and of autoscaling/v1 in the shape of v2.

#include "api/base/feature_gates.h"
#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/autoscaler_rules.h"
#include "apiserver/strategy/internal/checks.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

constexpr int kDefaultCpuUtilization = 80;
constexpr int kPolicyPeriodSeconds = 15;

Json Policy(const char* type, int value) {
  return {{"type", type}, {"value", value}, {"periodSeconds", kPolicyPeriodSeconds}};
}

void DefaultRules(Json& behavior, const char* direction, Json policies) {
  Json& rules = ObjectField(behavior, direction);
  if (Find(rules, "selectPolicy") == nullptr) rules["selectPolicy"] = "Max";
  if (Find(rules, "policies") == nullptr) rules["policies"] = std::move(policies);
}

bool MayScaleToZero(const StrategyContext& context, const Json* old) {
  if (context.gates.Enabled(api::gate::kHpaScaleToZero)) return true;
  return old != nullptr && IntAt(*old, 1, "spec", "minReplicas") == 0;
}

class HorizontalPodAutoscaler final : public Strategy {
 public:
  bool HasGeneration() const override { return false; }

  void Default(Json& object) const override {
    Json& spec = ObjectField(object, "spec");
    if (ListAt(spec, "metrics").empty())
      spec["metrics"] = {
          {{"type", "Resource"},
           {"resource",
            {{"name", "cpu"},
             {"target", {{"type", "Utilization"}, {"averageUtilization", kDefaultCpuUtilization}}}}}}};
    if (Find(spec, "behavior") == nullptr) return;
    Json& behavior = spec["behavior"];
    if (Find(behavior, "scaleUp", "stabilizationWindowSeconds") == nullptr)
      ObjectField(behavior, "scaleUp")["stabilizationWindowSeconds"] = 0;
    DefaultRules(behavior, "scaleUp", {Policy("Pods", 4), Policy("Percent", 100)});
    DefaultRules(behavior, "scaleDown", Json::array({Policy("Percent", 100)}));
  }

  FieldErrors Validate(const StrategyContext& context, const Json& object) const override {
    FieldErrors errors = NewMetadata(object, true, NameIsDnsSubdomain);
    Check(context, object, nullptr, errors);
    return errors;
  }

  FieldErrors ValidateUpdate(const StrategyContext& context, const Json& object,
                             const Json& old) const override {
    FieldErrors errors = ChangedMetadata(object, old);
    Check(context, object, &old, errors);
    return errors;
  }

  FieldErrors ValidateStatusUpdate(const StrategyContext& /*context*/, const Json& object,
                                   const Json& old) const override {
    FieldErrors errors = ChangedMetadata(object, old);
    const Json& status = ObjectAt(object, "status");
    Nonnegative(errors, status, "currentReplicas", Path("status"));
    Nonnegative(errors, status, "desiredReplicas", Path("status"));
    return errors;
  }

 private:
  static void Check(const StrategyContext& context, const Json& object, const Json* old,
                    FieldErrors& errors) {
    CheckReplicas(ObjectAt(object, "spec"), MayScaleToZero(context, old) ? 0 : 1, errors);
    CheckAutoscalerSpec(ObjectAt(object, "spec"), old == nullptr ? nullptr : &ObjectAt(*old, "spec"), errors);
  }

  static void CheckReplicas(const Json& spec, std::int64_t lowest, FieldErrors& errors) {
    const Path path("spec");
    const std::int64_t min = IntAt(spec, 1, "minReplicas");
    const std::int64_t max = IntAt(spec, 0, "maxReplicas");
    if (min < lowest)
      errors.push_back(api::InvalidError(path.Child("minReplicas"), min,
                                         "must be greater than or equal to " + std::to_string(lowest)));
    if (max == 0)
      errors.push_back(api::RequiredError(path.Child("maxReplicas"), "must be set and greater than 0"));
    else if (max < 0)
      errors.push_back(
          api::InvalidError(path.Child("maxReplicas"), max, "must be greater than or equal to 1"));
    if (max < min)
      errors.push_back(api::InvalidError(path.Child("maxReplicas"), max,
                                         "must be greater than or equal to `minReplicas`"));
  }
};

}  // namespace

const Strategy& HorizontalPodAutoscalerStrategy() {
  static const HorizontalPodAutoscaler strategy;
  return strategy;
}

}  // namespace terrarium::apiserver
