#pragma once

// The spec of a HorizontalPodAutoscaler. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/base/feature_gates.h"
#include "api/json.h"

namespace terrarium::controllers::autoscaler {

using api::Json;

struct ScalingPolicy {
  bool percent = false;  // otherwise pods
  int value = 0;
  int period_seconds = 0;
};

enum class SelectPolicy { kMax, kMin, kDisabled };

// How fast the target may grow or shrink.
struct ScalingRules {
  int stabilization_seconds = 0;
  SelectPolicy select = SelectPolicy::kMax;
  std::vector<ScalingPolicy> policies;

  int LongestPeriodSeconds() const;
};

struct Behavior {
  ScalingRules up;
  ScalingRules down;
};

// By how much, as a fraction of the target, a metric may miss its target before the controller scales.
struct Tolerances {
  double down = 0.1;
  double up = 0.1;

  bool Allow(double usage_ratio) const { return 1.0 - down <= usage_ratio && usage_ratio <= 1.0 + up; }
};

struct TargetReference {
  std::string api_version;
  std::string kind;
  std::string name;
};

struct AutoscalerSpec {
  TargetReference target;
  int min = 1;
  int max = 0;
  Json metrics = Json::array();
  std::optional<Behavior> behavior;
  Tolerances tolerances;

  bool HasObjectOrExternalMetric() const;
};

AutoscalerSpec ReadAutoscalerSpec(const Json& document, const api::FeatureGates& gates);

}  // namespace terrarium::controllers::autoscaler
