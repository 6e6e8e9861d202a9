#pragma once

// How many replicas bring the usage of a resource to its target. Pure. Mirrors
// pkg/controller/podautoscaler/replica_calculator.go, v1.36.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/base/status.h"
#include "api/core_v1/pod.h"
#include "api/json.h"
#include "controllers/horizontal_pod_autoscaler/internal/autoscaler_spec.h"

namespace terrarium::controllers::autoscaler {

// The state of a pod on which it depends whether its usage counts.
struct PodFacts {
  std::string name;
  bool deleting = false;
  api::Phase phase = api::Phase::kPending;
  std::optional<api::Time> started;  // status.startTime
  struct Readiness {
    bool is_false = false;
    api::Time since{};
  };
  std::optional<Readiness> ready = std::nullopt;  // the condition Ready
};
PodFacts PodFactsOf(const Json& pod);

// Usage in thousandths (of a core, of a byte).
struct PodMetric {
  api::Time time{};
  api::Duration window{};
  std::int64_t usage = 0;
};
using PodMetrics = std::map<std::string, PodMetric>;
// Reads a PodMetrics document: the whole pod, or one container if `container` is set. nullopt: the resource
// or the container is missing.
std::optional<PodMetric> PodMetricOf(const Json& metrics, const std::string& resource,
                                     const std::string& container);

using PodRequests = std::map<std::string, std::int64_t>;
// A pod's request in thousandths. Fails when a container has none.
api::Result<std::int64_t> RequestOf(const Json& pod, const std::string& resource,
                                    const std::string& container);

struct Measurement {
  int current = 0;  // replicas
  Tolerances tolerances;
  std::string resource;
  std::vector<PodFacts> pods;
  PodMetrics metrics;
  api::Time now{};
};

// What a metric asks for, and its current value.
struct Proposal {
  int replicas = 0;
  std::optional<int> utilization;  // in percent of the requests
  std::int64_t average = 0;        // usage of a pod, in thousandths
  // How many pods counted, were not ready, or had no metrics, for reports.
  int counted = 0;
  int unready = 0;
  int missing = 0;
};

api::Result<Proposal> ReplicasForUtilization(const Measurement& measured, const PodRequests& requests,
                                             int target_percent);
// `target`: average usage of a pod, in thousandths.
api::Result<Proposal> ReplicasForAverage(const Measurement& measured, std::int64_t target);

}  // namespace terrarium::controllers::autoscaler
