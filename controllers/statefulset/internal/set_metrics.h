#pragma once

// The controller's metrics, under Kubernetes' names. Single-threaded.

#include "api/object_name.h"
#include "controllers/runtime/metrics.h"
#include "controllers/statefulset/internal/set_spec.h"

namespace prometheus {
class Gauge;
template <typename T>
class Family;
}  // namespace prometheus

namespace terrarium::controllers::statefulset {

// Kubernetes reports them while the gate MaxUnavailableStatefulSet is on, and keeps those of deleted sets.
class SetMetrics {
 public:
  explicit SetMetrics(Metrics& metrics);

  void MaxUnavailable(const api::ObjectName& set, const SetSpec& spec);
  void UnavailableReplicas(const api::ObjectName& set, const SetSpec& spec, int pods);

 private:
  prometheus::Family<prometheus::Gauge>& max_unavailable_;
  prometheus::Family<prometheus::Gauge>& unavailable_replicas_;
};

}  // namespace terrarium::controllers::statefulset
