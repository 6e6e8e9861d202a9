#pragma once

#include <cstddef>

#include "controllers/runtime/metrics.h"
#include "kubelet-fake/scheduler/internal/scheduling_queue.h"

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

namespace terrarium::kubelet_fake::scheduling {

// Under kube-scheduler's names.
class SchedulerMetrics {
 public:
  // `metrics` outlives this.
  explicit SchedulerMetrics(controllers::Metrics& metrics);

  void Pending(const SchedulingQueue::Sizes& sizes);
  // An attempt ended with the pod bound at the `attempts`th try, with no node good enough, or with an error.
  void Scheduled(int attempts);
  void Unschedulable();
  void Error();
  // A pod that fits nowhere was checked for preemption; it had that many victims.
  void PreemptionTried();
  void Preempted(std::size_t victims);
  // The requests of a preemption were answered.
  void PreemptionEnded(bool succeeded);

 private:
  prometheus::Gauge* active_;
  prometheus::Gauge* backoff_;
  prometheus::Gauge* unschedulable_;
  prometheus::Gauge* gated_;
  prometheus::Counter* result_scheduled_;
  prometheus::Counter* result_unschedulable_;
  prometheus::Counter* result_error_;
  prometheus::Histogram* attempts_;
  prometheus::Counter* preemptions_;
  prometheus::Histogram* victims_;
  prometheus::Counter* preemptions_done_;
  prometheus::Counter* preemptions_failed_;
};

}  // namespace terrarium::kubelet_fake::scheduling
