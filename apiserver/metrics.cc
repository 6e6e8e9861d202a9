#include "apiserver/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <shared_mutex>
#include <tuple>

#include "storage/store.h"

namespace terrarium::apiserver {
namespace {

// Kubernetes' own buckets for apiserver_request_duration_seconds, thinned out.
const prometheus::Histogram::BucketBoundaries kDurationBuckets = {0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                                  0.25,   0.5,   1.0,   2.5,  5.0,   10.0, 60.0};

class PrometheusMetrics : public Metrics {
 public:
  PrometheusMetrics()
      : requests_(prometheus::BuildCounter()
                      .Name("apiserver_request_total")
                      .Help("Requests by verb, resource and response code.")
                      .Register(registry_)),
        durations_(prometheus::BuildHistogram()
                       .Name("apiserver_request_duration_seconds")
                       .Help("Time to answer, by verb and resource; watches are left out.")
                       .Register(registry_)),
        watches_(prometheus::BuildGauge()
                     .Name("apiserver_longrunning_requests")
                     .Help("Open watches.")
                     .Register(registry_)
                     .Add({{"verb", "WATCH"}})),
        objects_(prometheus::BuildGauge()
                     .Name("apiserver_storage_objects")
                     .Help("Stored objects by resource.")
                     .Register(registry_)) {}

  void CountRequest(const RequestLabels& labels, api::Duration took) override {
    const Series& series = Find(labels);
    series.count->Increment();
    if (labels.verb != "WATCH") series.duration->Observe(std::chrono::duration<double>(took).count());
  }

  void AddOpenWatches(int change) override { watches_.Increment(change); }

  std::string Text(const storage::Store& store) const override {
    for (const ResourceInfo& resource : ResourceTable::Get().all())
      if (!resource.storage.empty() && ResourceTable::Get().FindStorage(resource.storage) == &resource)
        objects_.Add({{"resource", resource.Resource().String()}})
            .Set(static_cast<double>(store.Count(resource.storage)));
    return prometheus::TextSerializer().Serialize(registry_.Collect());
  }

 private:
  struct Series {
    prometheus::Counter* count = nullptr;
    prometheus::Histogram* duration = nullptr;
  };
  using Key = std::tuple<std::string_view, const ResourceInfo*, std::string_view, int>;

  // A label set is built once; afterwards a request costs one lookup under a shared lock.
  const Series& Find(const RequestLabels& labels) {
    Key key{labels.verb, labels.resource, labels.subresource, labels.code};
    {
      std::shared_lock lock(mutex_);
      if (auto it = series_.find(key); it != series_.end()) return it->second;
    }
    std::map<std::string, std::string> names = {{"verb", std::string(labels.verb)},
                                                {"subresource", std::string(labels.subresource)},
                                                {"component", "apiserver"}};
    names["resource"] = labels.resource == nullptr ? "" : labels.resource->plural;
    names["group"] = labels.resource == nullptr ? "" : labels.resource->group;
    names["version"] = labels.resource == nullptr ? "" : labels.resource->version;
    std::unique_lock lock(mutex_);
    Series& series = series_[key];
    series.duration = &durations_.Add(names, kDurationBuckets);
    names["code"] = std::to_string(labels.code);
    series.count = &requests_.Add(names);
    return series;
  }

  mutable prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>& requests_;
  prometheus::Family<prometheus::Histogram>& durations_;
  prometheus::Gauge& watches_;
  prometheus::Family<prometheus::Gauge>& objects_;
  mutable std::shared_mutex mutex_;
  std::map<Key, Series> series_;
};

}  // namespace

std::unique_ptr<Metrics> Metrics::Make() { return std::make_unique<PrometheusMetrics>(); }

}  // namespace terrarium::apiserver
