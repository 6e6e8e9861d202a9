#include "controllers/horizontal_pod_autoscaler/internal/autoscaler_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

namespace terrarium::controllers::autoscaler {
namespace {

constexpr const char* kLabels =
    " The label 'action' should be either 'scale_down', 'scale_up', or 'none'. The label 'error' should be "
    "either 'spec', 'internal', or 'none'.";

std::string Named(const char* name) { return std::string("horizontal_pod_autoscaler_controller_") + name; }

prometheus::Family<prometheus::Counter>& Counters(Metrics& metrics, const char* name, const char* help) {
  return prometheus::BuildCounter()
      .Name(Named(name))
      .Help(std::string(help) + kLabels)
      .Register(metrics.registry());
}

prometheus::Family<prometheus::Histogram>& Durations(Metrics& metrics, const char* name, const char* help) {
  return prometheus::BuildHistogram()
      .Name(Named(name))
      .Help(std::string(help) + kLabels)
      .Register(metrics.registry());
}

prometheus::Family<prometheus::Gauge>& Gauges(Metrics& metrics, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(Named(name)).Help(help).Register(metrics.registry());
}

prometheus::Labels LabelsOf(const Ending& ending) {
  return {{"action", std::string(ending.action)}, {"error", std::string(ending.error)}};
}

prometheus::Histogram::BucketBoundaries Buckets() {
  prometheus::Histogram::BucketBoundaries bounds;
  for (double bound = 0.001; bounds.size() < 15; bound *= 2) bounds.push_back(bound);
  return bounds;
}

double Seconds(api::Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

AutoscalerMetrics::AutoscalerMetrics(Metrics& metrics)
    : reconciliations_(
          Counters(metrics, "reconciliations_total", "Number of reconciliations of HPA controller.")),
      reconciliation_seconds_(
          Durations(metrics, "reconciliation_duration_seconds",
                    "The time(seconds) that the HPA controller takes to reconcile once.")),
      computations_(Counters(metrics, "metric_computation_total", "Number of metric computations.")),
      computation_seconds_(
          Durations(metrics, "metric_computation_duration_seconds",
                    "The time(seconds) that the HPA controller takes to calculate one metric.")),
      autoscalers_(
          Gauges(metrics, "num_horizontal_pod_autoscalers", "Current number of controlled HPA objects.")
              .Add({})),
      desired_(Gauges(metrics, "desired_replicas", "Current desired replica count for HPA objects.")) {}

void AutoscalerMetrics::Reconciled(const Ending& ending, api::Duration took) {
  reconciliations_.Add(LabelsOf(ending)).Increment();
  reconciliation_seconds_.Add(LabelsOf(ending), Buckets()).Observe(Seconds(took));
}

void AutoscalerMetrics::Computed(const Ending& ending, std::string_view metric_type, api::Duration took) {
  prometheus::Labels labels = LabelsOf(ending);
  labels.emplace("metric_type", metric_type);
  computations_.Add(labels).Increment();
  computation_seconds_.Add(labels, Buckets()).Observe(Seconds(took));
}

void AutoscalerMetrics::SetAutoscalers(std::size_t count) { autoscalers_.Set(static_cast<double>(count)); }

void AutoscalerMetrics::SetDesired(const api::ObjectName& autoscaler, int replicas) {
  desired_.Add({{"namespace", autoscaler.ns}, {"hpa_name", autoscaler.name}}).Set(replicas);
}

}  // namespace terrarium::controllers::autoscaler
