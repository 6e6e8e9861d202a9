#pragma once

// Entries of status.currentMetrics and status.conditions of a HorizontalPodAutoscaler. Pure.

#include <cstdint>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/json.h"
#include "controllers/horizontal_pod_autoscaler/internal/replica_calculator.h"

namespace terrarium::controllers::autoscaler {

// Sets a condition. The transition time changes only with the status.
struct ConditionValue {
  std::string_view type;
  bool status = false;
  std::string_view reason;
  std::string message;
};
void SetCondition(Json& conditions, const ConditionValue& value, api::Time now);
void RemoveCondition(Json& conditions, std::string_view type);
bool IsConditionTrue(const Json& conditions, std::string_view type);

// A quantity in the form that Kubernetes gives to usage in thousandths: memory as bytes with a binary suffix.
std::string UsageText(std::string_view resource, std::int64_t thousandths);

// The entry for a Resource or ContainerResource metric.
Json CurrentOf(const Json& metric_spec, const Proposal& proposal);

// Whether two statuses are the same to a client: absent, null, empty and zero values are equal.
bool SameStatus(const Json& a, const Json& b);

}  // namespace terrarium::controllers::autoscaler
