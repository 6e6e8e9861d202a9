#include "controllers/endpoints/internal/slice_metrics.h"

#include <chrono>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

namespace terrarium::controllers::endpoints {
namespace {

using Buckets = prometheus::Histogram::BucketBoundaries;
using Counters = prometheus::Family<prometheus::Counter>;
using Gauges = prometheus::Family<prometheus::Gauge>;
using Histograms = prometheus::Family<prometheus::Histogram>;

Buckets Doubling(double first) {
  Buckets buckets;
  for (double bound = first; buckets.size() < 15; bound *= 2) buckets.push_back(bound);
  return buckets;
}

Buckets ClientDefaults() { return {.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}; }

}  // namespace

struct SliceMetrics::Families {
  Families(prometheus::Registry& to, bool mirroring)
      : registry(to),
        prefix(mirroring ? "endpoint_slice_mirroring_controller_" : "endpoint_slice_controller_"),
        stability(mirroring ? "[ALPHA] " : "[BETA] "),
        synced_kind(mirroring ? "Endpoints" : "Service") {}

  Counters& Counter(const char* name, const std::string& help) {
    return prometheus::BuildCounter().Name(prefix + name).Help(help).Register(registry);
  }
  Gauges& Gauge(const char* name, const std::string& help) {
    return prometheus::BuildGauge().Name(prefix + name).Help(help).Register(registry);
  }
  Histograms& Histogram(const char* name, const std::string& help) {
    return prometheus::BuildHistogram().Name(prefix + name).Help(help).Register(registry);
  }
  void ObserveEndpoints(const char* verb, int count) {
    const std::string name = std::string("endpoints_") + verb + "_per_sync";
    Histogram(name.c_str(), stability + "Number of endpoints " + verb + " on each " + synced_kind + " sync")
        .Add({}, Doubling(2))
        .Observe(count);
  }

  prometheus::Registry& registry;
  const std::string prefix;
  const std::string stability;
  const std::string synced_kind;
};

SliceMetrics::SliceMetrics(Metrics& metrics, Controller controller)
    : controller_(controller),
      families_(std::make_unique<Families>(metrics.registry(), controller == Controller::kMirroring)) {}
SliceMetrics::~SliceMetrics() = default;

void SliceMetrics::Written(std::string_view operation) {
  families_->Counter("changes", "[ALPHA] Number of EndpointSlice changes")
      .Add({{"operation", std::string(operation)}})
      .Increment();
}

void SliceMetrics::EndpointsChanged(const SlicePlan& plan) {
  families_->ObserveEndpoints("added", plan.added);
  families_->ObserveEndpoints("removed", plan.removed);
  if (controller_ == Controller::kMirroring) families_->ObserveEndpoints("updated", plan.updated);
}

void SliceMetrics::SetUsage(const api::ObjectName& service, const PortUsages& usage) {
  Totals totals;
  constexpr int kMax = static_cast<int>(kEndpointsPerSlice);
  for (const auto& [ports, used] : usage) {
    totals.endpoints += used.endpoints;
    totals.slices += used.slices;
    totals.desired_slices += (used.endpoints + kMax - 1) / kMax;
  }
  // A Service always has a slice.
  if (controller_ == Controller::kSlices && totals.desired_slices == 0) totals.desired_slices = 1;
  Change(service, totals);
}

void SliceMetrics::RemoveUsage(const api::ObjectName& service) {
  SetTrafficDistribution(service, "");
  if (!services_.contains(service)) return;
  Change(service, {});
  services_.erase(service);
}

void SliceMetrics::Change(const api::ObjectName& service, const Totals& totals) {
  Totals& known = services_[service];
  sum_.endpoints += totals.endpoints - known.endpoints;
  sum_.slices += totals.slices - known.slices;
  sum_.desired_slices += totals.desired_slices - known.desired_slices;
  known = totals;
  const std::string& stability = families_->stability;
  families_->Gauge("endpoints_desired", stability + "Number of endpoints desired")
      .Add({})
      .Set(sum_.endpoints);
  families_->Gauge("num_endpoint_slices", stability + "Number of EndpointSlices").Add({}).Set(sum_.slices);
  families_
      ->Gauge("desired_endpoint_slices",
              stability + "Number of EndpointSlices that would exist with perfect endpoint allocation")
      .Add({})
      .Set(sum_.desired_slices);
}

void SliceMetrics::Synced(std::string_view result) {
  families_->Counter("syncs", "[ALPHA] Number of EndpointSlice syncs")
      .Add({{"result", std::string(result)}})
      .Increment();
}

void SliceMetrics::SlicesChanged(bool auto_hints, const std::string& traffic_preference, std::size_t count) {
  families_
      ->Histogram("endpointslices_changed_per_sync",
                  "[ALPHA] Number of EndpointSlices changed on each Service sync")
      .Add({{"topology", auto_hints ? "Auto" : "Disabled"}, {"traffic_distribution", traffic_preference}},
           ClientDefaults())
      .Observe(static_cast<double>(count));
}

void SliceMetrics::SetTrafficDistribution(const api::ObjectName& service, const std::string& distribution) {
  const auto found = distributions_.find(service);
  const std::string before = found == distributions_.end() ? "" : found->second;
  if (before == distribution) return;
  auto count = [&](const std::string& value, double by) {
    if (value.empty()) return;
    families_
        ->Gauge("services_count_by_traffic_distribution",
                "[BETA] Number of Services using some specific trafficDistribution")
        .Add({{"traffic_distribution", value}})
        .Increment(by);
  };
  count(before, -1);
  count(distribution, 1);
  if (distribution.empty())
    distributions_.erase(service);
  else
    distributions_[service] = distribution;
}

void SliceMetrics::AddressesSkipped(int count) {
  families_
      ->Histogram("addresses_skipped_per_sync",
                  "[ALPHA] Number of addresses skipped on each Endpoints sync due to being invalid or "
                  "exceeding MaxEndpointsPerSubset")
      .Add({}, Doubling(2))
      .Observe(count);
}

void SliceMetrics::SyncTook(api::Duration duration) {
  families_->Histogram("endpoints_sync_duration", "[ALPHA] Duration of syncEndpoints() in seconds")
      .Add({}, Doubling(0.001))
      .Observe(std::chrono::duration<double>(duration).count());
}

}  // namespace terrarium::controllers::endpoints
