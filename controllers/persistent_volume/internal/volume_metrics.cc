#include "controllers/persistent_volume/internal/volume_metrics.h"

#include <chrono>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "api/json_access.h"
#include "controllers/persistent_volume/internal/volume_plugin.h"

namespace terrarium::controllers::persistent_volume {
namespace {

constexpr const char* kProvision = "provision";
constexpr const char* kDelete = "delete";

prometheus::Family<prometheus::Gauge>* Gauges(Metrics& metrics, const char* name, const char* help) {
  return &prometheus::BuildGauge()
              .Name(std::string("pv_collector_") + name)
              .Help(std::string("[ALPHA] ") + help)
              .Register(metrics.registry());
}

prometheus::Family<prometheus::Counter>& Counters(Metrics& metrics, const char* name, const char* help) {
  return prometheus::BuildCounter()
      .Name(name)
      .Help(std::string("[ALPHA] ") + help)
      .Register(metrics.registry());
}

}  // namespace

VolumeMetrics::VolumeMetrics(Metrics& metrics)
    : total_volumes_{Gauges(metrics, "total_pv_count", "Gauge measuring total number of persistent volumes")},
      bound_volumes_{
          Gauges(metrics, "bound_pv_count", "Gauge measuring number of persistent volume currently bound")},
      unbound_volumes_{Gauges(metrics, "unbound_pv_count",
                              "Gauge measuring number of persistent volume currently unbound")},
      bound_claims_{Gauges(metrics, "bound_pvc_count",
                           "Gauge measuring number of persistent volume claim currently bound")},
      unbound_claims_{Gauges(metrics, "unbound_pvc_count",
                             "Gauge measuring number of persistent volume claim currently unbound")},
      errors_(Counters(metrics, "volume_operation_errors_total", "Total volume operation errors")),
      old_errors_(Counters(metrics, "volume_operation_total_errors", "Total volume operation errors")),
      seconds_(prometheus::BuildHistogram()
                   .Name("volume_operation_total_seconds")
                   .Help("[ALPHA] Storage operation end to end duration in seconds")
                   .Register(metrics.registry())),
      assigned_(Counters(metrics, "retroactive_storageclass_total",
                         "Total number of retroactive StorageClass assignments to persistent volume claim")
                    .Add({})),
      not_assigned_(
          Counters(metrics, "retroactive_storageclass_errors_total",
                   "Total number of failed retroactive StorageClass assignments to persistent volume claim")
              .Add({})) {}

void VolumeMetrics::Counts::Add(const Labels& labels, int change) {
  struct Count& count = by_labels[labels];
  if (count.gauge == nullptr) count.gauge = &family->Add(labels);
  count.objects += change;
  count.gauge->Set(count.objects);
  if (count.objects > 0) return;
  family->Remove(count.gauge);
  by_labels.erase(labels);
}

void VolumeMetrics::Count(const api::Volume& volume, int change) {
  const auto document = volume.object->Document();
  std::string mode(api::StringAt(*document, "spec", "volumeMode"));
  total_volumes_.Add({{"plugin_name", PluginName(*document)}, {"volume_mode", std::move(mode)}}, change);
  Counts& counts = volume.header().phase.text() == "Bound" ? bound_volumes_ : unbound_volumes_;
  counts.Add({{"storage_class", std::string(api::StringAt(*document, "spec", "storageClassName"))}}, change);
}

void VolumeMetrics::Count(const api::VolumeClaim& claim, int change) {
  Counts& counts = claim.header().phase.text() == "Bound" ? bound_claims_ : unbound_claims_;
  counts.Add({{"namespace", claim.header().ns},
              {"storage_class", claim.class_name},
              {"volume_attributes_class", claim.attributes_class}},
             change);
}

void VolumeMetrics::VolumeChanged(const VolumePtr& old, const VolumePtr& now) {
  if (now != nullptr) Count(*now, 1);
  if (old != nullptr) Count(*old, -1);
}

void VolumeMetrics::ClaimChanged(const ClaimPtr& old, const ClaimPtr& now) {
  if (now != nullptr) Count(*now, 1);
  if (old != nullptr) Count(*old, -1);
}

void VolumeMetrics::ProvisioningStarted(const api::ObjectName& claim, std::string plugin, api::Time now) {
  provisioning_.try_emplace(claim, Operation{std::move(plugin), now});
}
void VolumeMetrics::DeletionStarted(const api::ObjectName& volume, std::string plugin, api::Time now) {
  deletions_.try_emplace(volume, Operation{std::move(plugin), now});
}
void VolumeMetrics::ProvisioningFailed(const api::ObjectName& claim) {
  Failed(provisioning_, claim, kProvision);
}
void VolumeMetrics::DeletionFailed(const api::ObjectName& volume) { Failed(deletions_, volume, kDelete); }
void VolumeMetrics::ProvisioningDone(const api::ObjectName& claim, api::Time now) {
  Done(provisioning_, claim, kProvision, now);
}
void VolumeMetrics::DeletionDone(const api::ObjectName& volume, api::Time now) {
  Done(deletions_, volume, kDelete, now);
}

void VolumeMetrics::Failed(const Operations& operations, const api::ObjectName& key, const char* name) {
  auto it = operations.find(key);
  if (it == operations.end()) return;
  const prometheus::Labels labels = {{"plugin_name", it->second.plugin}, {"operation_name", name}};
  errors_.Add(labels).Increment();
  old_errors_.Add(labels).Increment();
}

void VolumeMetrics::Done(Operations& operations, const api::ObjectName& key, const char* name,
                         api::Time now) {
  auto it = operations.find(key);
  if (it == operations.end()) return;
  const prometheus::Labels labels = {{"plugin_name", it->second.plugin}, {"operation_name", name}};
  const prometheus::Histogram::BucketBoundaries bounds = {.1, .25, .5, 1,   2.5, 5,  10,
                                                          15, 25,  50, 120, 300, 600};
  seconds_.Add(labels, bounds).Observe(std::chrono::duration<double>(now - it->second.started).count());
  operations.erase(it);
}

void VolumeMetrics::ClassAssigned(bool success) {
  assigned_.Increment();
  if (!success) not_assigned_.Increment();
}

}  // namespace terrarium::controllers::persistent_volume
