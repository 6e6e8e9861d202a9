#pragma once

// The controller's metrics, under Kubernetes' names.

#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/object_name.h"
#include "controllers/runtime/metrics.h"

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
template <typename T>
class Family;
}  // namespace prometheus

namespace terrarium::controllers::autoscaler {

// How a reconciliation or the computation of a metric ended: labels `action` and `error`.
struct Ending {
  std::string_view action = "none";  // or scale_up, scale_down
  std::string_view error = "none";   // or spec, internal
};

class AutoscalerMetrics {
 public:
  explicit AutoscalerMetrics(Metrics& metrics);

  void Reconciled(const Ending& ending, api::Duration took);
  void Computed(const Ending& ending, std::string_view metric_type, api::Duration took);
  void SetAutoscalers(std::size_t count);
  void SetDesired(const api::ObjectName& autoscaler, int replicas);

 private:
  prometheus::Family<prometheus::Counter>& reconciliations_;
  prometheus::Family<prometheus::Histogram>& reconciliation_seconds_;
  prometheus::Family<prometheus::Counter>& computations_;
  prometheus::Family<prometheus::Histogram>& computation_seconds_;
  prometheus::Gauge& autoscalers_;
  prometheus::Family<prometheus::Gauge>& desired_;
};

}  // namespace terrarium::controllers::autoscaler
