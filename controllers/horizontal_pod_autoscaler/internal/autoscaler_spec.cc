#include "controllers/horizontal_pod_autoscaler/internal/autoscaler_spec.h"

#include <algorithm>

#include "api/base/feature_gates.h"
#include "api/base/quantity.h"
#include "api/json_access.h"

namespace terrarium::controllers::autoscaler {
namespace {

using api::StringAt;

// The default of kube-controller-manager's flag --horizontal-pod-autoscaler-downscale-stabilization.
constexpr int kDownscaleStabilizationSeconds = 300;

int IntOf(const Json& object, int otherwise, const char* field) {
  return static_cast<int>(api::IntAt(object, otherwise, field));
}

SelectPolicy SelectOf(std::string_view text) {
  if (text == "Min") return SelectPolicy::kMin;
  return text == "Disabled" ? SelectPolicy::kDisabled : SelectPolicy::kMax;
}

ScalingRules RulesOf(const Json& rules, int stabilization_seconds) {
  ScalingRules out;
  out.stabilization_seconds = IntOf(rules, stabilization_seconds, "stabilizationWindowSeconds");
  out.select = SelectOf(StringAt(rules, "selectPolicy"));
  for (const Json& policy : api::ListAt(rules, "policies"))
    out.policies.push_back({.percent = StringAt(policy, "type") == "Percent",
                            .value = IntOf(policy, 0, "value"),
                            .period_seconds = IntOf(policy, 0, "periodSeconds")});
  return out;
}

void ReadTolerance(const Json& rules, double& out) {
  const std::string_view text = StringAt(rules, "tolerance");
  std::string error;
  const auto tolerance = api::Quantity::Parse(text, &error);
  if (!text.empty() && tolerance) out = static_cast<double>(tolerance->MilliValue()) / 1000;
}

}  // namespace

int ScalingRules::LongestPeriodSeconds() const {
  int longest = 0;
  for (const ScalingPolicy& policy : policies) longest = std::max(longest, policy.period_seconds);
  return longest;
}

bool AutoscalerSpec::HasObjectOrExternalMetric() const {
  return std::any_of(metrics.begin(), metrics.end(), [](const Json& metric) {
    return StringAt(metric, "type") == "Object" || StringAt(metric, "type") == "External";
  });
}

AutoscalerSpec ReadAutoscalerSpec(const Json& document, const api::FeatureGates& gates) {
  const Json& spec = api::ObjectAt(document, "spec");
  AutoscalerSpec out;
  out.target = {std::string(StringAt(spec, "scaleTargetRef", "apiVersion")),
                std::string(StringAt(spec, "scaleTargetRef", "kind")),
                std::string(StringAt(spec, "scaleTargetRef", "name"))};
  out.min = IntOf(spec, 1, "minReplicas");
  out.max = IntOf(spec, 0, "maxReplicas");
  out.metrics = api::ListAt(spec, "metrics");
  const Json* behavior = api::Find(spec, "behavior");
  if (behavior == nullptr) return out;
  const Json& up = api::ObjectAt(*behavior, "scaleUp");
  const Json& down = api::ObjectAt(*behavior, "scaleDown");
  out.behavior = {RulesOf(up, 0), RulesOf(down, kDownscaleStabilizationSeconds)};
  if (!gates.Enabled(api::gate::kHpaConfigurableTolerance)) return out;
  ReadTolerance(up, out.tolerances.up);
  ReadTolerance(down, out.tolerances.down);
  return out;
}

}  // namespace terrarium::controllers::autoscaler
