#include "kubelet-fake/scheduler/internal/scheduler_metrics.h"

#include <string>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "kubelet-fake/scheduler/internal/pod_writer.h"

namespace terrarium::kubelet_fake::scheduling {

SchedulerMetrics::SchedulerMetrics(controllers::Metrics& metrics) {
  auto& pending = prometheus::BuildGauge()
                      .Name("scheduler_pending_pods")
                      .Help("Number of pending pods, by the queue type.")
                      .Register(metrics.registry());
  active_ = &pending.Add({{"queue", "active"}});
  backoff_ = &pending.Add({{"queue", "backoff"}});
  unschedulable_ = &pending.Add({{"queue", "unschedulable"}});
  gated_ = &pending.Add({{"queue", "gated"}});
  auto& results = prometheus::BuildCounter()
                      .Name("scheduler_schedule_attempts_total")
                      .Help("Number of attempts to schedule pods, by the result.")
                      .Register(metrics.registry());
  const std::string profile(kSchedulerName);
  result_scheduled_ = &results.Add({{"result", "scheduled"}, {"profile", profile}});
  result_unschedulable_ = &results.Add({{"result", "unschedulable"}, {"profile", profile}});
  result_error_ = &results.Add({{"result", "error"}, {"profile", profile}});
  attempts_ = &prometheus::BuildHistogram()
                   .Name("scheduler_pod_scheduling_attempts")
                   .Help("Number of attempts to successfully schedule a pod.")
                   .Register(metrics.registry())
                   .Add({}, prometheus::Histogram::BucketBoundaries{1, 2, 4, 8, 16});
  preemptions_ = &prometheus::BuildCounter()
                      .Name("scheduler_preemption_attempts_total")
                      .Help("Total preemption attempts in the cluster till now")
                      .Register(metrics.registry())
                      .Add({});
  victims_ = &prometheus::BuildHistogram()
                  .Name("scheduler_preemption_victims")
                  .Help("Number of selected preemption victims")
                  .Register(metrics.registry())
                  .Add({}, prometheus::Histogram::BucketBoundaries{1, 2, 4, 8, 16, 32, 64});
  auto& executions = prometheus::BuildCounter()
                         .Name("scheduler_preemption_goroutines_execution_total")
                         .Help("Number of preemption goroutines executed.")
                         .Register(metrics.registry());
  preemptions_done_ = &executions.Add({{"result", "success"}});
  preemptions_failed_ = &executions.Add({{"result", "error"}});
}

void SchedulerMetrics::Pending(const SchedulingQueue::Sizes& sizes) {
  active_->Set(static_cast<double>(sizes.active));
  backoff_->Set(static_cast<double>(sizes.backoff));
  unschedulable_->Set(static_cast<double>(sizes.unschedulable));
  gated_->Set(static_cast<double>(sizes.gated));
}

void SchedulerMetrics::Scheduled(int attempts) {
  result_scheduled_->Increment();
  attempts_->Observe(attempts);
}

void SchedulerMetrics::Unschedulable() { result_unschedulable_->Increment(); }

void SchedulerMetrics::Error() { result_error_->Increment(); }

void SchedulerMetrics::PreemptionTried() { preemptions_->Increment(); }

void SchedulerMetrics::Preempted(std::size_t victims) { victims_->Observe(static_cast<double>(victims)); }

void SchedulerMetrics::PreemptionEnded(bool succeeded) {
  (succeeded ? preemptions_done_ : preemptions_failed_)->Increment();
}

}  // namespace terrarium::kubelet_fake::scheduling
