#include "apiserver/metrics.h"

#include <cstdint>
#include <map>
#include <shared_mutex>
#include <tuple>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "storage/store.h"

namespace terrarium::apiserver {
namespace {

// Kubernetes' own buckets for apiserver_request_duration_seconds.
const prometheus::Histogram::BucketBoundaries kDurationBuckets = {
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60};

using Labels = std::map<std::string, std::string>;

Labels LongRunningLabels(const RequestLabels& labels) {
  Labels names = {{"verb", std::string(labels.verb)},
                  {"subresource", std::string(labels.subresource)},
                  {"scope", std::string(labels.scope)},
                  {"component", std::string(labels.component)}};
  names["resource"] = labels.resource == nullptr ? "" : labels.resource->plural;
  names["group"] = labels.resource == nullptr ? "" : labels.resource->group;
  names["version"] = labels.resource == nullptr ? "" : labels.resource->version;
  return names;
}

class PrometheusMetrics : public Metrics {
 public:
  PrometheusMetrics()
      : requests_(
            prometheus::BuildCounter()
                .Name("apiserver_request_total")
                .Help(
                    "[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, "
                    "version, resource, scope, component, and HTTP response code.")
                .Register(registry_)),
        durations_(
            prometheus::BuildHistogram()
                .Name("apiserver_request_duration_seconds")
                .Help(
                    "[STABLE] Response latency distribution in seconds for each verb, dry run value, group, "
                    "version, resource, subresource, scope and component.")
                .Register(registry_)),
        long_running_(
            prometheus::BuildGauge()
                .Name("apiserver_longrunning_requests")
                .Help("[STABLE] Gauge of all active long-running apiserver requests broken out by verb, "
                      "group, version, resource, scope and component. Not all requests are tracked this "
                      "way.")
                .Register(registry_)),
        objects_(prometheus::BuildGauge()
                     .Name("apiserver_storage_objects")
                     .Help("Stored objects by resource.")
                     .Register(registry_)) {}

  void CountRequest(const RequestLabels& labels, api::Duration took) override {
    const Series& series = Find(labels);
    series.count->Increment();
    if (labels.verb != "WATCH") series.duration->Observe(std::chrono::duration<double>(took).count());
  }

  void AddLongRunning(const RequestLabels& labels, int change) override {
    long_running_.Add(LongRunningLabels(labels)).Increment(change);
  }

  std::string Text(const storage::Store& store, const ResourceTable& table) const override {
    for (const ResourceInfo& resource : table.all())
      if (!resource.storage.empty() && resource.stored_as == nullptr)
        objects_.Add({{"resource", resource.Resource().String()}})
            .Set(static_cast<double>(store.Count(resource.storage)));
    return prometheus::TextSerializer().Serialize(registry_.Collect());
  }

 private:
  struct Series {
    prometheus::Counter* count = nullptr;
    prometheus::Histogram* duration = nullptr;
  };
  // Has the serial of the resource, because the resource may be removed. The names of subresources are short
  // enough to need no allocation.
  using Key =
      std::tuple<std::string_view, std::uint64_t, std::string, std::string_view, std::string_view, int>;

  // A label set is built once; afterwards a request costs one lookup under a shared lock.
  const Series& Find(const RequestLabels& labels) {
    Key key{labels.verb,
            labels.resource == nullptr ? 0 : labels.resource->serial,
            std::string(labels.subresource),
            labels.scope,
            labels.dry_run,
            labels.code};
    {
      std::shared_lock lock(mutex_);
      if (auto it = series_.find(key); it != series_.end()) return it->second;
    }
    Labels names = LongRunningLabels(labels);
    names["dry_run"] = labels.dry_run;
    std::unique_lock lock(mutex_);
    auto [it, added] = series_.try_emplace(key);
    Series& series = it->second;
    // Another thread may have added it meanwhile; readers hold no lock, so that it must not change any more.
    if (!added) return series;
    series.duration = &durations_.Add(names, kDurationBuckets);
    names["code"] = std::to_string(labels.code);
    series.count = &requests_.Add(names);
    return series;
  }

  mutable prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>& requests_;
  prometheus::Family<prometheus::Histogram>& durations_;
  prometheus::Family<prometheus::Gauge>& long_running_;
  prometheus::Family<prometheus::Gauge>& objects_;
  mutable std::shared_mutex mutex_;
  std::map<Key, Series> series_;
};

}  // namespace

std::unique_ptr<Metrics> Metrics::Make() { return std::make_unique<PrometheusMetrics>(); }

}  // namespace terrarium::apiserver
