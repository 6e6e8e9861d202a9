#include "controllers/runtime/metrics.h"

#include <map>
#include <mutex>
#include <shared_mutex>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace terrarium::controllers {
namespace {

// Names, help and buckets of Kubernetes 1.36 (test/instrumentation/documentation/documentation-list.yaml),
// which puts the stability of a metric in front of its help.
constexpr const char* kUnfinishedHelp =
    "[BETA] How many seconds of work has done that is in progress and hasn't been observed by work_duration. "
    "Large "
    "values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at "
    "which this "
    "increases.";

prometheus::Histogram::BucketBoundaries DurationBuckets() {
  prometheus::Histogram::BucketBoundaries buckets;
  // Multiplied step by step, so that the rounding is Kubernetes' too: a bound reads 9.999999999999999e-06.
  double bound = 10e-9;
  for (int i = 0; i < 10; ++i, bound *= 10) buckets.push_back(bound);
  return buckets;
}

double Seconds(api::Duration duration) { return std::chrono::duration<double>(duration).count(); }

prometheus::Family<prometheus::Counter>& Counter(prometheus::Registry& registry, const char* name,
                                                 const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}
prometheus::Family<prometheus::Gauge>& Gauge(prometheus::Registry& registry, const char* name,
                                             const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}
prometheus::Family<prometheus::Histogram>& Histogram(prometheus::Registry& registry, const char* name,
                                                     const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

}  // namespace

class Metrics::Impl {
 public:
  struct Series {
    prometheus::Gauge& depth;
    prometheus::Counter& adds;
    prometheus::Histogram& waited;
    prometheus::Histogram& worked;
    prometheus::Gauge& unfinished;
    prometheus::Gauge& longest;
    prometheus::Counter& retries;
  };

  // All series of a queue appear together, on its first use, as they do in Kubernetes.
  Series& Of(std::string_view queue) {
    {
      std::shared_lock lock(mutex_);
      if (auto it = series_.find(queue); it != series_.end()) return it->second;
    }
    std::unique_lock lock(mutex_);
    if (auto it = series_.find(queue); it != series_.end()) return it->second;
    const prometheus::Labels name = {{"name", std::string(queue)}};
    Series made{depth_.Add(name),
                adds_.Add(name),
                waited_.Add(name, DurationBuckets()),
                worked_.Add(name, DurationBuckets()),
                unfinished_.Add(name),
                longest_.Add(name),
                retries_.Add(name)};
    return series_.emplace(std::string(queue), made).first->second;
  }

  prometheus::Registry registry;

 private:
  prometheus::Family<prometheus::Gauge>& depth_ =
      Gauge(registry, "workqueue_depth", "[BETA] Current depth of workqueue");
  prometheus::Family<prometheus::Counter>& adds_ =
      Counter(registry, "workqueue_adds_total", "[BETA] Total number of adds handled by workqueue");
  prometheus::Family<prometheus::Histogram>& waited_ =
      Histogram(registry, "workqueue_queue_duration_seconds",
                "[BETA] How long in seconds an item stays in workqueue before being requested.");
  prometheus::Family<prometheus::Histogram>& worked_ =
      Histogram(registry, "workqueue_work_duration_seconds",
                "[BETA] How long in seconds processing an item from workqueue takes.");
  prometheus::Family<prometheus::Gauge>& unfinished_ =
      Gauge(registry, "workqueue_unfinished_work_seconds", kUnfinishedHelp);
  prometheus::Family<prometheus::Gauge>& longest_ =
      Gauge(registry, "workqueue_longest_running_processor_seconds",
            "[BETA] How many seconds has the longest running processor for workqueue been running.");
  prometheus::Family<prometheus::Counter>& retries_ =
      Counter(registry, "workqueue_retries_total", "[BETA] Total number of retries handled by workqueue");

  std::shared_mutex mutex_;
  std::map<std::string, Series, std::less<>> series_;  // guarded by mutex_
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

prometheus::Registry& Metrics::registry() { return impl_->registry; }

void Metrics::QueueAdded(std::string_view queue) { impl_->Of(queue).adds.Increment(); }
void Metrics::QueueDepth(std::string_view queue, std::size_t depth) {
  impl_->Of(queue).depth.Set(static_cast<double>(depth));
}
void Metrics::QueueRetried(std::string_view queue) { impl_->Of(queue).retries.Increment(); }
void Metrics::QueueWaited(std::string_view queue, api::Duration waited) {
  impl_->Of(queue).waited.Observe(Seconds(waited));
}
void Metrics::QueueWorked(std::string_view queue, api::Duration worked) {
  impl_->Of(queue).worked.Observe(Seconds(worked));
}
void Metrics::QueueUnfinished(std::string_view queue, api::Duration sum, api::Duration longest) {
  Impl::Series& series = impl_->Of(queue);
  series.unfinished.Set(Seconds(sum));
  series.longest.Set(Seconds(longest));
}

std::string Metrics::Text() const {
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace terrarium::controllers
