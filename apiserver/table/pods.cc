// The table columns of pods. The Status column shows more than the phase: the reason of the most relevant
// container, or the progress of the init containers.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "apiserver/table/internal/printer.h"

namespace terrarium::apiserver::table {
namespace {

using api::Json;

constexpr Column kPodColumns[] = {
    kNameColumn,
    {"Ready", "string", "", "The aggregate readiness state of this pod for accepting traffic."},
    {"Status", "string", "", "The aggregate status of the containers in this pod."},
    {"Restarts", "string", "",
     "The number of times the containers in this pod have been restarted and when the last container in this "
     "pod has "
     "restarted."},
    kAgeColumn,
    {"IP", "string", "",
     "podIP address allocated to the pod. Routable at least within the cluster. Empty if not yet allocated.",
     1},
    {"Node", "string", "",
     "NodeName indicates in which node this pod is scheduled. If empty, this pod is a candidate for "
     "scheduling by the "
     "scheduler defined in schedulerName. Once this field is set, the kubelet for this node becomes "
     "responsible for the "
     "lifecycle of this pod. This field should not be used to express a desire for the pod to be scheduled "
     "on a "
     "specific node. https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename",
     1},
    {"Nominated Node", "string", "",
     "nominatedNodeName is set only when this pod preempts other pods on the node, but it cannot be "
     "scheduled right "
     "away as preemption victims receive their graceful termination periods. This field does not guarantee "
     "that the "
     "pod will be scheduled on this node. Scheduler may decide to place the pod elsewhere if other nodes "
     "become "
     "available sooner. Scheduler may also decide to give the resources on this node to a higher priority "
     "pod that is "
     "created after preemption. As a result, this field may be different than PodSpec.nodeName when the pod "
     "is "
     "scheduled.",
     1},
    {"Readiness Gates", "string", "",
     "If specified, all readiness gates will be evaluated for pod readiness. A pod is ready when all its "
     "containers "
     "are ready AND all conditions specified in the readiness gates have status equal to \"True\" More info: "
     "https://git.k8s.io/enhancements/keps/sig-network/580-pod-readiness-gates",
     1},
};

// The number of restarts, and when the latest of the previous runs ended.
struct Restarts {
  std::int64_t count = 0;
  std::optional<api::Time> last;

  void Add(const Json& container_status) {
    count += api::IntAt(container_status, 0, "restartCount");
    auto finished = api::ParseTime(api::StringAt(container_status, "lastState", "terminated", "finishedAt"));
    if (finished && (!last || *finished > *last)) last = finished;
  }

  std::string Text(api::Time now) const {
    std::string out = std::to_string(count);
    if (count == 0 || !last) return out;
    const Json then = api::FormatTime(*last);
    return out + " (" + Since(&then, now) + " ago)";
  }
};

struct Summary {
  std::string status;
  std::int64_t ready = 0;
  std::int64_t total = 0;
  Restarts restarts;
};

// The state's reason, or "Signal:9" or "ExitCode:1" when it has none.
std::string TerminationReason(const Json& terminated) {
  if (std::string_view reason = api::StringAt(terminated, "reason"); !reason.empty())
    return std::string(reason);
  if (std::int64_t signal = api::IntAt(terminated, 0, "signal"); signal != 0)
    return "Signal:" + std::to_string(signal);
  return "ExitCode:" + std::to_string(api::IntAt(terminated, 0, "exitCode"));
}

// True for an init container that keeps running beside the main containers.
bool IsSidecar(const Json& pod_spec, std::string_view name) {
  for (const Json& container : api::ListAt(pod_spec, "initContainers"))
    if (api::StringAt(container, "name") == name)
      return api::StringAt(container, "restartPolicy") == "Always";
  return false;
}

// Reads the init containers in order up to the first unfinished one. Returns true while the pod is
// initializing. `sidecars` counts the restarts of sidecars, which stay in the pod's total after
// initialization.
bool SummarizeInit(const Json& pod, Summary& summary, Restarts& sidecars) {
  const Json& spec = api::ObjectAt(pod, "spec");
  std::size_t index = 0;
  for (const Json& status : api::ListAt(pod, "status", "initContainerStatuses")) {
    const std::size_t at = index++;
    const bool sidecar = IsSidecar(spec, api::StringAt(status, "name"));
    summary.restarts.Add(status);
    if (sidecar) sidecars.Add(status);
    const Json* terminated = api::Find(status, "state", "terminated");
    if (terminated != nullptr && api::IntAt(*terminated, 0, "exitCode") == 0) continue;
    if (sidecar && api::BoolAt(status, "started")) {
      if (api::BoolAt(status, "ready")) ++summary.ready;
      continue;
    }
    std::string_view waiting = api::StringAt(status, "state", "waiting", "reason");
    if (terminated != nullptr) {
      summary.status = "Init:" + TerminationReason(*terminated);
    } else if (!waiting.empty() && waiting != "PodInitializing") {
      summary.status = std::string("Init:").append(waiting);
    } else {
      summary.status =
          "Init:" + std::to_string(at) + "/" + std::to_string(api::ListAt(spec, "initContainers").size());
    }
    return true;
  }
  return false;
}

// The first container with a waiting or termination reason determines the status. The loop goes from last to
// first, so the first container overwrites the others.
void SummarizeContainers(const Json& pod, Summary& summary) {
  const Json& statuses = api::ListAt(pod, "status", "containerStatuses");
  bool running = false;
  std::string error;
  for (auto it = statuses.rbegin(); it != statuses.rend(); ++it) {
    const Json& status = *it;
    summary.restarts.Add(status);
    const Json* terminated = api::Find(status, "state", "terminated");
    if (std::string_view waiting = api::StringAt(status, "state", "waiting", "reason"); !waiting.empty()) {
      summary.status = waiting;
    } else if (terminated != nullptr) {
      summary.status = TerminationReason(*terminated);
      if (api::IntAt(*terminated, 0, "exitCode") != 0) error = summary.status;
    } else if (api::BoolAt(status, "ready") && api::Find(status, "state", "running") != nullptr) {
      running = true;
      ++summary.ready;
    }
  }
  // A completed container does not make the pod Completed while other containers run or have failed.
  if (summary.status == "Completed") {
    if (running && ConditionStatus(api::ListAt(pod, "status", "conditions"), "Ready") == "True")
      summary.status = "Running";
    else if (!error.empty())
      summary.status = error;
    else if (running)
      summary.status = "NotReady";
  }
}

Summary Summarize(const Json& pod) {
  const Json& spec = api::ObjectAt(pod, "spec");
  const Json& conditions = api::ListAt(pod, "status", "conditions");
  std::string_view phase = api::StringAt(pod, "status", "phase");
  std::string_view reason = api::StringAt(pod, "status", "reason");

  Summary summary;
  summary.status = OrElse(reason, phase);
  for (const Json& condition : conditions) {
    if (api::StringAt(condition, "type") == "PodScheduled" &&
        api::StringAt(condition, "reason") == "SchedulingGated")
      summary.status = "SchedulingGated";
  }
  summary.total = static_cast<std::int64_t>(api::ListAt(spec, "containers").size());
  for (const Json& container : api::ListAt(spec, "initContainers"))
    if (api::StringAt(container, "restartPolicy") == "Always") ++summary.total;

  Restarts sidecars;
  const bool initializing = SummarizeInit(pod, summary, sidecars);
  if (!initializing || ConditionStatus(conditions, "Initialized") == "True") {
    summary.restarts = sidecars;
    SummarizeContainers(pod, summary);
  }
  if (api::Find(pod, "metadata", "deletionTimestamp") != nullptr) {
    if (reason == "NodeLost")
      summary.status = "Unknown";
    else if (!api::IsPodPhaseTerminal(phase))
      summary.status = "Terminating";
  }
  return summary;
}

std::string ReadinessGates(const Json& pod) {
  const Json& gates = api::ListAt(pod, "spec", "readinessGates");
  if (gates.empty()) return std::string(kNone);
  const Json& conditions = api::ListAt(pod, "status", "conditions");
  const auto open = std::count_if(gates.begin(), gates.end(), [&](const Json& gate) {
    return ConditionStatus(conditions, api::StringAt(gate, "conditionType")) == "True";
  });
  return std::to_string(open) + "/" + std::to_string(gates.size());
}

std::vector<Json> PodCells(const Json& pod, api::Time now) {
  const Summary summary = Summarize(pod);
  const Json& ips = api::ListAt(pod, "status", "podIPs");
  return {Name(pod),
          std::to_string(summary.ready) + "/" + std::to_string(summary.total),
          summary.status,
          summary.restarts.Text(now),
          Age(pod, now),
          OrElse(ips.empty() ? std::string_view() : api::StringAt(ips.front(), "ip"), kNone),
          OrElse(api::StringAt(pod, "spec", "nodeName"), kNone),
          OrElse(api::StringAt(pod, "status", "nominatedNodeName"), kNone),
          ReadinessGates(pod)};
}

Json PodConditions(const Json& pod) {
  std::string_view phase = api::StringAt(pod, "status", "phase");
  const char* message = nullptr;
  if (phase == "Succeeded") message = "The pod has completed successfully.";
  if (phase == "Failed") message = "The pod failed.";
  if (message == nullptr) return nullptr;
  return Json::array({{{"type", "Completed"}, {"status", "True"}, {"reason", phase}, {"message", message}}});
}

constexpr Printer kPodPrinters[] = {{"", "Pod", kPodColumns, PodCells, PodConditions}};

}  // namespace

std::span<const Printer> PodPrinters() { return kPodPrinters; }

}  // namespace terrarium::apiserver::table
