#include "controllers/statefulset/internal/set_metrics.h"

#include <prometheus/gauge.h>
#include <prometheus/registry.h>

namespace terrarium::controllers::statefulset {
namespace {

prometheus::Labels LabelsOf(const api::ObjectName& set, const SetSpec& spec) {
  return {{"statefulset_namespace", set.ns},
          {"statefulset_name", set.name},
          {"pod_management_policy", spec.parallel ? "Parallel" : "OrderedReady"}};
}

}  // namespace

SetMetrics::SetMetrics(Metrics& metrics)
    : max_unavailable_(
          prometheus::BuildGauge()
              .Name("statefulset_controller_statefulset_max_unavailable")
              .Help("[ALPHA] Maximum number of unavailable pods allowed during StatefulSet rolling updates")
              .Register(metrics.registry())),
      unavailable_replicas_(prometheus::BuildGauge()
                                .Name("statefulset_controller_statefulset_unavailable_replicas")
                                .Help("[ALPHA] Current number of unavailable pods in StatefulSet")
                                .Register(metrics.registry())) {}

void SetMetrics::MaxUnavailable(const api::ObjectName& set, const SetSpec& spec) {
  if (spec.max_unavailable) max_unavailable_.Add(LabelsOf(set, spec)).Set(*spec.max_unavailable);
}

void SetMetrics::UnavailableReplicas(const api::ObjectName& set, const SetSpec& spec, int pods) {
  if (spec.max_unavailable) unavailable_replicas_.Add(LabelsOf(set, spec)).Set(pods);
}

}  // namespace terrarium::controllers::statefulset
