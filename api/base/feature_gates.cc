#include "api/base/feature_gates.h"

#include <array>

#include "api/base/errors.h"

namespace terrarium::api {
namespace {

constexpr std::array<GateDef, 15> kGates = {{
    {gate::kDeploymentPodReplacementPolicy, false, GateStage::kAlpha,
     gate::kDeploymentReplicaSetTerminatingReplicas},
    {gate::kDeploymentReplicaSetTerminatingReplicas, true, GateStage::kBeta, ""},
    {gate::kDownscalePodPicker, false, GateStage::kAlpha, ""},
    {gate::kElasticIndexedJob, true, GateStage::kStable, ""},
    {gate::kHpaConfigurableTolerance, true, GateStage::kBeta, ""},
    {gate::kHpaScaleToZero, false, GateStage::kAlpha, ""},
    {gate::kJobBackoffLimitPerIndex, true, GateStage::kStable, ""},
    {gate::kJobManagedBy, true, GateStage::kStable, ""},
    {gate::kJobPodFailurePolicy, true, GateStage::kStable, ""},
    // Stable and locked upstream; switchable here, since on/off/on of this gate is what people come to test.
    {gate::kJobPodReplacementPolicy, true, GateStage::kStable, ""},
    {gate::kJobSuccessPolicy, true, GateStage::kStable, ""},
    {gate::kLogarithmicScaleDown, true, GateStage::kStable, ""},
    {gate::kMaxUnavailableStatefulSet, false, GateStage::kBeta, ""},
    {gate::kPodDeletionCost, true, GateStage::kBeta, ""},
    {gate::kPodDisruptionConditions, true, GateStage::kStable, ""},
}};

std::string_view Trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

// The spellings Go's strconv.ParseBool takes, since people paste flags from real components.
bool ParseBool(std::string_view text, bool* value) {
  for (const char* t : {"1", "t", "T", "true", "TRUE", "True"})
    if (text == t) return *value = true, true;
  for (const char* f : {"0", "f", "F", "false", "FALSE", "False"})
    if (text == f) return *value = false, true;
  return false;
}

}  // namespace

std::span<const GateDef> AllGates() { return kGates; }

FeatureGates::FeatureGates() {
  for (const GateDef& g : kGates) values_.emplace(g.name, g.default_on);
}

Result<FeatureGates> FeatureGates::With(std::string_view assignments) const {
  std::map<std::string, bool> values;
  while (!assignments.empty()) {
    std::size_t comma = assignments.find(',');
    std::string_view item = Trim(assignments.substr(0, comma));
    assignments = comma == std::string_view::npos ? std::string_view{} : assignments.substr(comma + 1);
    if (item.empty()) continue;
    std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) return BadRequest("missing bool value for " + std::string(item));
    bool value = false;
    if (!ParseBool(Trim(item.substr(equals + 1)), &value))
      return BadRequest("invalid value of " + std::string(item) + ": not a boolean");
    values[std::string(Trim(item.substr(0, equals)))] = value;
  }
  return With(values);
}

Result<FeatureGates> FeatureGates::With(const std::map<std::string, bool>& values) const {
  FeatureGates out = *this;
  for (const auto& [name, value] : values) {
    auto it = out.values_.find(name);
    if (it == out.values_.end()) return BadRequest("unrecognized feature gate: " + name);
    it->second = value;
  }
  for (const GateDef& g : kGates) {
    if (!g.needs.empty() && out.Enabled(g.name) && !out.Enabled(g.needs))
      return BadRequest(std::string(g.name) + " is enabled, but depends on features that are disabled: [" +
                        std::string(g.needs) + "]");
  }
  return out;
}

bool FeatureGates::Enabled(std::string_view name) const {
  auto it = values_.find(name);
  CHECK(it != values_.end());
  return it->second;
}

}  // namespace terrarium::api
