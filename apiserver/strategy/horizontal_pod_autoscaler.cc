// HorizontalPodAutoscaler of autoscaling/v2.

#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/plain_kind.h"

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

void CheckSegment(const Json& target, const char* field, const Path& path, FieldErrors& errors) {
  const std::string_view text = StringAt(target, field);
  if (text.empty())
    errors.push_back(api::RequiredError(path.Child(field)));
  else
    AddInvalid(IsValidPathSegmentName(text), text, path.Child(field), errors);
}

class HorizontalPodAutoscaler final : public PlainKind {
 public:
  HorizontalPodAutoscaler() : PlainKind({.status = true}) {}

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

 private:
  // DIVERGES: metrics and behavior are kept unchecked.
  void Check(const Json& object, const Json* /*old*/, FieldErrors& errors) const override {
    const Path path("spec");
    const Json& spec = ObjectAt(object, "spec");
    const std::int64_t min = IntAt(spec, 1, "minReplicas");
    const std::int64_t max = IntAt(spec, 0, "maxReplicas");
    if (min < 1)
      errors.push_back(
          api::InvalidError(path.Child("minReplicas"), min, "must be greater than or equal to 1"));
    if (max == 0)
      errors.push_back(api::RequiredError(path.Child("maxReplicas"), "must be set and greater than 0"));
    else if (max < 0)
      errors.push_back(
          api::InvalidError(path.Child("maxReplicas"), max, "must be greater than or equal to 1"));
    if (max < min)
      errors.push_back(api::InvalidError(path.Child("maxReplicas"), max,
                                         "must be greater than or equal to `minReplicas`"));
    const Json& target = ObjectAt(spec, "scaleTargetRef");
    CheckSegment(target, "kind", path.Child("scaleTargetRef"), errors);
    CheckSegment(target, "name", path.Child("scaleTargetRef"), errors);
  }
};

}  // namespace

const Strategy& HorizontalPodAutoscalerStrategy() {
  static const HorizontalPodAutoscaler strategy;
  return strategy;
}

}  // namespace terrarium::apiserver
