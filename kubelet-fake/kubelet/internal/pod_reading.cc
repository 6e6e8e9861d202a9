#include "kubelet-fake/kubelet/internal/pod_reading.h"

#include <algorithm>

#include "api/base/duration.h"
#include "api/core_v1/pod.h"
#include "api/json_access.h"

namespace terrarium::kubelet_fake {
namespace {

using api::BoolAt;
using api::Find;
using api::IntAt;
using api::ListAt;
using api::ObjectAt;
using api::StringAt;

constexpr Duration kFirstBackOff = std::chrono::seconds(10);
constexpr Duration kLongestBackOff = std::chrono::minutes(5);

Duration Seconds(std::int64_t seconds) { return std::chrono::seconds(seconds); }

std::optional<RestartPolicy> PolicyIn(std::string_view text) {
  if (text == "Always") return RestartPolicy::kAlways;
  if (text == "OnFailure") return RestartPolicy::kOnFailure;
  if (text == "Never") return RestartPolicy::kNever;
  return std::nullopt;
}

std::optional<Duration> ProbeDelay(const Json& container, const char* probe) {
  const Json* found = Find(container, probe);
  if (found == nullptr) return std::nullopt;
  return Seconds(IntAt(*found, 0, "initialDelaySeconds"));
}

std::shared_ptr<const Json> MountsOf(const Json& container) {
  const Json& mounts = ListAt(container, "volumeMounts");
  if (mounts.empty()) return nullptr;
  Json out = Json::array();
  for (const Json& mount : mounts) {
    Json entry = {{"name", StringAt(mount, "name")}, {"mountPath", StringAt(mount, "mountPath")}};
    if (BoolAt(mount, "readOnly")) {
      entry["readOnly"] = true;
      entry["recursiveReadOnly"] = "Disabled";
    }
    out.push_back(std::move(entry));
  }
  return std::make_shared<const Json>(std::move(out));
}

std::shared_ptr<const Json> ResourcesOf(const Json& container) {
  const Json& resources = ObjectAt(container, "resources");
  return resources.empty() ? nullptr : std::make_shared<const Json>(resources);
}

void ReadRestartRules(const Json& spec, Container& container) {
  for (const Json& rule : ListAt(spec, "restartPolicyRules")) {
    Container::RestartRule out{StringAt(rule, "exitCodes", "operator") == "In", {}};
    for (const Json& code : ListAt(rule, "exitCodes", "values")) out.codes.push_back(code.get<int>());
    container.restart_rules.push_back(std::move(out));
  }
}

Container ReadContainer(const Json& spec, bool init) {
  Container out;
  out.name = StringAt(spec, "name");
  out.image = StringAt(spec, "image");
  out.restart_policy = PolicyIn(StringAt(spec, "restartPolicy"));
  if (init) {
    out.kind =
        out.restart_policy == RestartPolicy::kAlways ? Container::Kind::kSidecar : Container::Kind::kInit;
  }
  out.always_pulls = StringAt(spec, "imagePullPolicy") == "Always";
  out.startup_probe = ProbeDelay(spec, "startupProbe");
  out.readiness_probe = ProbeDelay(spec, "readinessProbe");
  if (const Json* grace = Find(spec, "livenessProbe", "terminationGracePeriodSeconds")) {
    out.liveness_grace = Seconds(grace->get<std::int64_t>());
  }
  out.pre_stop = Seconds(IntAt(spec, 0, "lifecycle", "preStop", "sleep", "seconds"));
  ReadRestartRules(spec, out);
  out.mounts = MountsOf(spec);
  out.resources = ResourcesOf(spec);
  return out;
}

Exit ReadExit(const Json& terminated) {
  Exit out;
  out.code = static_cast<int>(IntAt(terminated, 0, "exitCode"));
  out.reason = StringAt(terminated, "reason");
  out.message = StringAt(terminated, "message");
  out.started = api::ParseTime(StringAt(terminated, "startedAt"));
  out.finished = api::ParseTime(StringAt(terminated, "finishedAt"));
  out.container_id = StringAt(terminated, "containerID");
  return out;
}

// The back-off is not in the status but for the words of a container that waits for it to end.
Duration BackOffOf(const Json& status, int restarts) {
  constexpr std::string_view kBegin = "back-off ";
  std::string_view message = StringAt(status, "state", "waiting", "message");
  if (message.starts_with(kBegin)) {
    message.remove_prefix(kBegin.size());
    const api::ParsedDuration parsed = api::ParseDuration(message.substr(0, message.find(' ')));
    if (parsed) return parsed.value;
  }
  Duration out = kFirstBackOff;
  for (int i = 1; i < restarts && out < kLongestBackOff; ++i) out *= 2;
  return restarts == 0 ? Duration::zero() : std::min(out, kLongestBackOff);
}

void TakeUp(const Json& status, Container& container) {
  container.ready = BoolAt(status, "ready");
  container.started = BoolAt(status, "started");
  container.restarts = static_cast<int>(IntAt(status, 0, "restartCount"));
  if (const Json* last = Find(status, "lastState", "terminated")) {
    container.exit = std::make_unique<Exit>(ReadExit(*last));
  }
  if (const Json* running = Find(status, "state", "running")) {
    container.at = Container::At::kRunning;
    container.started_at = api::ParseTime(StringAt(*running, "startedAt")).value_or(Time{});
  } else if (const Json* terminated = Find(status, "state", "terminated")) {
    container.at = Container::At::kTerminated;
    container.exit_before = std::move(container.exit);
    container.exit = std::make_unique<Exit>(ReadExit(*terminated));
    if (container.exit->started) container.started_at = *container.exit->started;
  }
  container.crash_loop = container.exit && container.exit->finished &&
                         StringAt(status, "state", "waiting", "reason") == "CrashLoopBackOff";
  container.back_off = BackOffOf(status, container.restarts);
  // The back-off was set when the container last started; of one that waits we know only when it ended.
  container.back_off_set = container.started_at;
  if (container.crash_loop)
    container.back_off_set = container.exit->started.value_or(*container.exit->finished);
}

void TakeUpConditions(const Json& pod, PodState& state) {
  for (std::size_t i = 0; i < kConditionTypes; ++i) {
    const Json* found = api::FindCondition(pod, Name(static_cast<ConditionType>(i)));
    if (found == nullptr) continue;
    Condition& condition = state.conditions[i];
    condition.present = true;
    condition.holds = StringAt(*found, "status") == "True";
    condition.since = api::ParseTime(StringAt(*found, "lastTransitionTime")).value_or(Time{});
    condition.reason = StringAt(*found, "reason");
    condition.message = StringAt(*found, "message");
    condition.reported_reason = !condition.reason.empty();
    condition.reported_message = !condition.message.empty();
    // Written by the binding, without an observedGeneration.
    condition.reported = state.start_time.has_value();
  }
}

void TakeUpStatus(const Json& pod, PodState& state) {
  const Json& status = ObjectAt(pod, "status");
  state.start_time = api::ParseTime(StringAt(status, "startTime"));
  TakeUpConditions(pod, state);
  if (!state.start_time) return;
  state.phase = PhaseIn(pod);
  state.reason = StringAt(status, "reason");
  state.message = StringAt(status, "message");
  state.host_ip = StringAt(status, "hostIP");
  state.pod_ip = StringAt(status, "podIP");
  state.over = IsTerminal(state.phase);
  state.sandbox = state.At(ConditionType::kReadyToStartContainers).holds;
  state.changes = {false, false, false, false, false, false};
  for (Container& container : state.containers) {
    const char* list =
        container.kind == Container::Kind::kRegular ? "containerStatuses" : "initContainerStatuses";
    for (const Json& entry : ListAt(status, list)) {
      if (StringAt(entry, "name") == container.name) TakeUp(entry, container);
    }
    if (container.kind == Container::Kind::kRegular && container.EverStarted()) state.initialized = true;
  }
}

}  // namespace

PodPhase PhaseIn(const Json& pod) {
  const PodPhase phase = api::ParsePhase(StringAt(pod, "status", "phase"));
  return phase == PodPhase::kUnknown ? PodPhase::kPending : phase;
}

void ReadChanges(const Json& pod, Time now, PodState& state) {
  const Json& metadata = ObjectAt(pod, "metadata");
  const std::int64_t generation = IntAt(metadata, 0, "generation");
  if (generation != state.generation) {
    state.generation = generation;
    state.changes.generation = true;
    for (Condition& condition : state.conditions) condition.reported = false;
  }
  const Json* deadline = Find(pod, "spec", "activeDeadlineSeconds");
  state.active_deadline.reset();
  if (deadline != nullptr) state.active_deadline = Seconds(deadline->get<std::int64_t>());
  for (auto& [type, status] : state.readiness_gates) {
    const Json* condition = api::FindCondition(pod, type);
    status = condition != nullptr ? std::string(StringAt(*condition, "status")) : "";
  }
  if (Find(metadata, "deletionTimestamp") == nullptr) return;
  const Duration grace = Seconds(IntAt(metadata, 0, "deletionGracePeriodSeconds"));
  const bool sooner = !state.deleting || grace < state.deletion_grace;
  state.deleting = true;
  state.deletion_grace = grace;
  if (!state.stop) {
    state.stop = StopOrder{now, now + grace};
  } else if (sooner) {
    state.stop->kill_by = std::min(state.stop->kill_by, now + grace);
  }
}

PodState ReadPod(const Json& pod) {
  PodState out;
  const Json& metadata = ObjectAt(pod, "metadata");
  const Json& spec = ObjectAt(pod, "spec");
  out.name = {std::string(StringAt(metadata, "namespace")), std::string(StringAt(metadata, "name"))};
  out.uid = StringAt(metadata, "uid");
  out.restart_policy = PolicyIn(StringAt(spec, "restartPolicy")).value_or(RestartPolicy::kAlways);
  out.termination_grace = Seconds(IntAt(spec, 30, "terminationGracePeriodSeconds"));
  out.host_network = BoolAt(spec, "hostNetwork");
  for (const Json& gate : ListAt(spec, "readinessGates")) {
    out.readiness_gates.emplace_back(StringAt(gate, "conditionType"), "");
  }
  out.containers.reserve(ListAt(spec, "initContainers").size() + ListAt(spec, "containers").size());
  for (const Json& container : ListAt(spec, "initContainers"))
    out.containers.push_back(ReadContainer(container, true));
  for (const Json& container : ListAt(spec, "containers"))
    out.containers.push_back(ReadContainer(container, false));
  TakeUpStatus(pod, out);
  out.generation = IntAt(pod, 0, "status", "observedGeneration");
  return out;
}

}  // namespace terrarium::kubelet_fake
