#pragma once

// The one table of feature gates and a set of their values. Each component has a set of its own, so that
// gates can differ between apiserver, controller-manager and kubelet and can be switched while the process
// runs.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"

namespace terrarium::api {

enum class GateStage { kAlpha, kBeta, kStable };

struct GateDef {
  std::string_view name;
  bool default_on;
  GateStage stage;
  std::string_view needs;  // a gate that must be on as well, or empty
};

// Sorted by name.
std::span<const GateDef> AllGates();

namespace gate {
inline constexpr std::string_view kDeploymentPodReplacementPolicy = "DeploymentPodReplacementPolicy";
inline constexpr std::string_view kDeploymentReplicaSetTerminatingReplicas =
    "DeploymentReplicaSetTerminatingReplicas";
inline constexpr std::string_view kDownscalePodPicker = "DownscalePodPicker";
inline constexpr std::string_view kElasticIndexedJob = "ElasticIndexedJob";
inline constexpr std::string_view kHpaConfigurableTolerance = "HPAConfigurableTolerance";
inline constexpr std::string_view kHpaScaleToZero = "HPAScaleToZero";
inline constexpr std::string_view kJobBackoffLimitPerIndex = "JobBackoffLimitPerIndex";
inline constexpr std::string_view kJobManagedBy = "JobManagedBy";
inline constexpr std::string_view kJobPodFailurePolicy = "JobPodFailurePolicy";
inline constexpr std::string_view kJobPodReplacementPolicy = "JobPodReplacementPolicy";
inline constexpr std::string_view kJobSuccessPolicy = "JobSuccessPolicy";
inline constexpr std::string_view kLogarithmicScaleDown = "LogarithmicScaleDown";
inline constexpr std::string_view kMaxUnavailableStatefulSet = "MaxUnavailableStatefulSet";
inline constexpr std::string_view kPodDeletionCost = "PodDeletionCost";
inline constexpr std::string_view kPodDisruptionConditions = "PodDisruptionConditions";
}  // namespace gate

class FeatureGates {
 public:
  FeatureGates();  // every gate at its default

  // Applies "A=true,B=false" over the current values (repeats: the last wins). Fails with a message that
  // names an unknown gate, a value that is not a boolean, or a gate that is on without the one it needs.
  Result<FeatureGates> With(std::string_view assignments) const;
  Result<FeatureGates> With(const std::map<std::string, bool>& values) const;

  // REQUIRES: `name` is in the table.
  bool Enabled(std::string_view name) const;
  const std::map<std::string, bool, std::less<>>& values() const { return values_; }

  friend bool operator==(const FeatureGates&, const FeatureGates&) = default;

 private:
  std::map<std::string, bool, std::less<>> values_;
};

}  // namespace terrarium::api
