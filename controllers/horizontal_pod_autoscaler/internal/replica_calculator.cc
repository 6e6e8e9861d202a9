#include "controllers/horizontal_pod_autoscaler/internal/replica_calculator.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <utility>

#include "api/base/duration.h"
#include "api/base/errors.h"
#include "api/base/quantity.h"
#include "api/core_v1/resource_list.h"
#include "api/json_access.h"

namespace terrarium::controllers::autoscaler {
namespace {

using api::Result;
using api::StringAt;

// The defaults of kube-controller-manager's flags.
constexpr api::Duration kCpuInitializationPeriod = std::chrono::minutes(5);
constexpr api::Duration kInitialReadinessDelay = std::chrono::seconds(30);

// Usage and requests are the clients': their sums may exceed 64 bits.
__extension__ typedef __int128 Sum;

std::int64_t Narrow(Sum sum) {
  constexpr Sum kMost = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(sum, kMost));
}

int RoundUp(double replicas) {
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();
  return static_cast<int>(std::min(std::ceil(replicas), kMost));
}

std::optional<std::int64_t> AmountOf(const Json& amounts, const std::string& resource) {
  const Json* text = api::Find(amounts, resource);
  if (text == nullptr || !text->is_string()) return std::nullopt;
  std::string error;
  const auto quantity = api::Quantity::Parse(text->get_ref<const std::string&>(), &error);
  return quantity ? quantity->MilliValue() : 0;
}

// Whether the CPU usage of a pod that starts up must not count yet.
bool IsStartingUp(const PodFacts& pod, const PodMetric& metric, api::Time now) {
  if (!pod.ready || !pod.started) return true;
  // In this period the usage counts when the pod has been ready for a whole window.
  if (*pod.started + kCpuInitializationPeriod > now)
    return pod.ready->is_false || metric.time < pod.ready->since + metric.window;
  // Afterwards it counts unless the pod has never been ready.
  return pod.ready->is_false && *pod.started + kInitialReadinessDelay > pod.ready->since;
}

struct Groups {
  int ready = 0;
  std::set<std::string> unready;
  std::set<std::string> missing;  // have no metrics
  std::set<std::string> ignored;
};

Groups Group(const Measurement& measured) {
  Groups groups;
  for (const PodFacts& pod : measured.pods) {
    if (pod.deleting || pod.phase == api::Phase::kFailed) {
      groups.ignored.insert(pod.name);
      continue;
    }
    if (pod.phase == api::Phase::kPending) {
      groups.unready.insert(pod.name);
      continue;
    }
    const auto metric = measured.metrics.find(pod.name);
    if (metric == measured.metrics.end()) {
      groups.missing.insert(pod.name);
    } else if (measured.resource == "cpu" && IsStartingUp(pod, metric->second, measured.now)) {
      groups.unready.insert(pod.name);
    } else {
      ++groups.ready;
    }
  }
  return groups;
}

// How a target judges a set of metrics.
struct Judgement {
  double ratio = 0;  // of the usage to the target
  std::optional<int> utilization;
  std::int64_t average = 0;
};
struct Target {
  std::function<Result<Judgement>(const PodMetrics&)> judge;
  // What a pod without metrics is assumed to use when the target could shrink.
  std::function<std::int64_t(const std::string& pod)> assumed;
};

Result<Proposal> Propose(const Measurement& measured, const Target& target) {
  if (measured.pods.empty())
    return api::GenericServerError("no pods returned by selector while calculating replica count");
  const Groups groups = Group(measured);
  PodMetrics metrics = measured.metrics;
  std::erase_if(metrics, [&](const auto& metric) {
    return groups.ignored.contains(metric.first) || groups.unready.contains(metric.first);
  });
  if (metrics.empty())
    return api::GenericServerError("did not receive metrics for targeted pods (pods might be unready)");
  auto judged = target.judge(metrics);
  if (!judged) return judged.status();
  Proposal out{.replicas = measured.current,
               .utilization = judged->utilization,
               .average = judged->average,
               .counted = groups.ready,
               .unready = static_cast<int>(groups.unready.size()),
               .missing = static_cast<int>(groups.missing.size())};
  const double ratio = judged->ratio;
  const bool grows_with_unready = !groups.unready.empty() && ratio > 1.0;
  if (!grows_with_unready && groups.missing.empty()) {
    if (!measured.tolerances.Allow(ratio)) out.replicas = RoundUp(ratio * groups.ready);
    return out;
  }

  // Pods of unknown usage count against any change: as the target when it could shrink, as nothing when it
  // could grow.
  for (const std::string& pod : groups.missing)
    if (ratio != 1.0) metrics[pod] = {.usage = ratio < 1.0 ? target.assumed(pod) : 0};
  if (grows_with_unready)
    for (const std::string& pod : groups.unready) metrics[pod] = {};
  judged = target.judge(metrics);
  if (!judged) return judged.status();
  const bool turns = (ratio < 1.0 && judged->ratio > 1.0) || (ratio > 1.0 && judged->ratio < 1.0);
  if (measured.tolerances.Allow(judged->ratio) || turns) return out;
  const int replicas = RoundUp(judged->ratio * static_cast<double>(metrics.size()));
  const bool other_way = (judged->ratio < 1.0 && replicas > measured.current) ||
                         (judged->ratio > 1.0 && replicas < measured.current);
  if (!other_way) out.replicas = replicas;
  return out;
}

// Containers that run all the time: the regular ones and the sidecars.
std::vector<const Json*> RunningContainersOf(const Json& pod) {
  std::vector<const Json*> out;
  for (const Json& container : api::ListAt(pod, "spec", "containers")) out.push_back(&container);
  for (const Json& container : api::ListAt(pod, "spec", "initContainers"))
    if (StringAt(container, "restartPolicy") == "Always") out.push_back(&container);
  return out;
}

bool HasPodLevelRequests(const Json& pod) {
  for (const auto& [name, amount] : api::ObjectAt(pod, "spec", "resources", "requests").items())
    if (name == "cpu" || name == "memory" || api::IsHugePageResource(name)) return true;
  return false;
}

}  // namespace

PodFacts PodFactsOf(const Json& pod) {
  PodFacts facts{.name = std::string(StringAt(pod, "metadata", "name")),
                 .deleting = api::Find(pod, "metadata", "deletionTimestamp") != nullptr,
                 .phase = api::ParsePhase(StringAt(pod, "status", "phase")),
                 .started = api::ParseTime(StringAt(pod, "status", "startTime"))};
  if (const Json* ready = api::FindCondition(pod, "Ready"))
    facts.ready = {.is_false = StringAt(*ready, "status") == "False",
                   .since = api::ParseTime(StringAt(*ready, "lastTransitionTime")).value_or(api::Time{})};
  return facts;
}

std::optional<PodMetric> PodMetricOf(const Json& metrics, const std::string& resource,
                                     const std::string& container) {
  Sum usage = 0;
  bool found = false;
  for (const Json& each : api::ListAt(metrics, "containers")) {
    if (!container.empty() && StringAt(each, "name") != container) continue;
    const auto amount = AmountOf(api::ObjectAt(each, "usage"), resource);
    if (!amount) return std::nullopt;
    usage += *amount;
    found = true;
  }
  if (!found) return std::nullopt;
  return PodMetric{.time = api::ParseTime(StringAt(metrics, "timestamp")).value_or(api::Time{}),
                   .window = api::ParseDuration(StringAt(metrics, "window")).value,
                   .usage = Narrow(usage)};
}

Result<std::int64_t> RequestOf(const Json& pod, const std::string& resource, const std::string& container) {
  const std::string name(StringAt(pod, "metadata", "name"));
  if (container.empty() && HasPodLevelRequests(pod)) {
    const api::ResourceList total = api::PodTotal(api::ObjectAt(pod, "spec"), "requests");
    const auto request = total.find(resource);
    if (request != total.end()) return request->second.MilliValue();
    return api::GenericServerError("missing pod-level request for " + resource + " in Pod " + name);
  }
  Sum sum = 0;
  bool found = false;
  for (const Json* each : RunningContainersOf(pod)) {
    const std::string its_name(StringAt(*each, "name"));
    if (!container.empty() && its_name != container) continue;
    found = true;
    const auto amount = AmountOf(api::ObjectAt(*each, "resources", "requests"), resource);
    if (!amount)
      return api::GenericServerError("missing request for " + resource + " in container " + its_name +
                                     " of Pod " + name);
    sum += *amount;
  }
  if (!found && !container.empty())
    return api::GenericServerError("container " + container + " not found in Pod " + name);
  return Narrow(sum);
}

Result<Proposal> ReplicasForUtilization(const Measurement& measured, const PodRequests& requests,
                                        int target_percent) {
  const auto request_of = [&](const std::string& pod) {
    const auto request = requests.find(pod);
    return request == requests.end() ? std::int64_t{0} : request->second;
  };
  Target target;
  target.judge = [&](const PodMetrics& metrics) -> Result<Judgement> {
    Sum usage = 0;
    Sum requested = 0;
    int pods = 0;
    for (const auto& [pod, metric] : metrics) {
      if (!requests.contains(pod)) continue;
      usage += metric.usage;
      requested += request_of(pod);
      ++pods;
    }
    if (requested == 0) return api::GenericServerError("no metrics returned matched known pods");
    constexpr Sum kMost = std::numeric_limits<std::int32_t>::max();
    const int utilization = static_cast<int>(std::min(usage * 100 / requested, kMost));
    return Judgement{static_cast<double>(utilization) / target_percent, utilization, Narrow(usage / pods)};
  };
  target.assumed = [&](const std::string& pod) {
    return Narrow(Sum{request_of(pod)} * std::max(100, target_percent) / 100);
  };
  return Propose(measured, target);
}

Result<Proposal> ReplicasForAverage(const Measurement& measured, std::int64_t target_average) {
  Target target;
  target.judge = [&](const PodMetrics& metrics) -> Result<Judgement> {
    Sum usage = 0;
    for (const auto& [pod, metric] : metrics) usage += metric.usage;
    const std::int64_t average = Narrow(usage / static_cast<Sum>(metrics.size()));
    return Judgement{static_cast<double>(average) / static_cast<double>(target_average), std::nullopt,
                     average};
  };
  target.assumed = [&](const std::string&) { return target_average; };
  return Propose(measured, target);
}

}  // namespace terrarium::controllers::autoscaler
