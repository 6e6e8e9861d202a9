#pragma once

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

 private:
  prometheus::Gauge* active_;
  prometheus::Gauge* backoff_;
  prometheus::Gauge* unschedulable_;
  prometheus::Gauge* gated_;
  prometheus::Counter* result_scheduled_;
  prometheus::Counter* result_unschedulable_;
  prometheus::Counter* result_error_;
  prometheus::Histogram* attempts_;
};

}  // namespace terrarium::kubelet_fake::scheduling
