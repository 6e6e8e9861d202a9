#include "kubelet-fake/kubelet/pod_life.h"

#include <algorithm>
#include <utility>

#include "api/base/check.h"
#include "api/json_access.h"
#include "controllers/runtime/event_recorder.h"
#include "kubelet-fake/kubelet/internal/container_timing.h"
#include "kubelet-fake/kubelet/internal/pod_end.h"
#include "kubelet-fake/kubelet/internal/pod_phase.h"
#include "kubelet-fake/kubelet/internal/pod_reading.h"
#include "kubelet-fake/kubelet/internal/status_patch.h"

namespace terrarium::kubelet_fake {
namespace {

using controllers::kNormal;
using controllers::kWarning;

constexpr std::string_view kDeadlineExceeded = "DeadlineExceeded";
constexpr std::string_view kDeadlineMessage = "Pod was active on the node longer than the specified deadline";
constexpr std::string_view kEvicted = "Evicted";
// The grace period of the eviction manager for evictions under node pressure.
constexpr Duration kEvictionGrace = std::chrono::seconds(1);

// When the deletion of a pod that an earlier kubelet was stopping began.
Time DeletedAt(const Json& pod, Time now) {
  const std::optional<Time> end = api::ParseTime(api::StringAt(pod, "metadata", "deletionTimestamp"));
  if (!end) return now;
  return std::min(now,
                  *end - std::chrono::seconds(api::IntAt(pod, 0, "metadata", "deletionGracePeriodSeconds")));
}

}  // namespace

PodLife::PodLife(const Json& pod, Time now) : state_(ReadPod(pod)) {
  ReadChanges(pod, state_.start_time ? DeletedAt(pod, now) : now, state_);
}

void PodLife::SetAddresses(std::string host_ip, std::string pod_ip) {
  state_.pod_ip = state_.host_network ? host_ip : std::move(pod_ip);
  state_.host_ip = std::move(host_ip);
}

void PodLife::Direct(PodDirections directions, Time now) {
  const auto ignores_stop = [&] {
    return directions_.script != nullptr && state_.stop &&
           std::any_of(state_.containers.begin(), state_.containers.end(),
                       [&](const Container& c) { return c.Runs() && IgnoresStop(state_, c, directions_); });
  };
  const bool ignored_stop = ignores_stop();
  // New directions apply from now on: an instant that has already passed counts as now.
  const bool other = directions_.script != nullptr &&
                     (*directions_.script != *directions.script || directions_.hold != directions.hold);
  if (other) state_.redirected = now;
  directions_ = std::move(directions);
  if (ignored_stop && !ignores_stop()) state_.released = now;
}

void PodLife::Observe(const Json& pod, Time now) {
  const bool was_stopping = state_.stop.has_value();
  ReadChanges(pod, now, state_);
  if (!was_stopping && state_.stop) RecordKilling();
  ObserveEnd(pod, now);
}

// Another client has set a terminal phase: the kubelet stops the pod's containers.
void PodLife::ObserveEnd(const Json& pod, Time now) {
  const PodPhase phase = PhaseIn(pod);
  if (!IsTerminal(phase) || IsTerminal(state_.phase)) return;
  state_.ending = Ending{.phase = phase,
                         .reason = std::string(api::StringAt(pod, "status", "reason")),
                         .message = std::string(api::StringAt(pod, "status", "message"))};
  state_.phase = phase;
  state_.reason = state_.ending->reason;
  state_.message = state_.ending->message;
  Stop(now, state_.termination_grace);
}

void PodLife::Advance(Time now, const LifeGates& gates) {
  if (!state_.start_time) {
    state_.start_time = now;
    Report(now);
    if (!state_.deleting) return;  // the next step is reported separately
  }
  if (state_.over) return;
  CheckDeadline(now);
  MoveContainers(now);
  if (state_.stop && !state_.AnyRuns()) {
    Finish(now, gates);
  } else {
    Report(now);
  }
}

void PodLife::CheckDeadline(Time now) {
  if (!state_.active_deadline || state_.stop || now < *state_.start_time + *state_.active_deadline) return;
  Record(kNormal, kDeadlineExceeded, std::string(kDeadlineMessage));
  state_.ending = Ending{.reason = std::string(kDeadlineExceeded),
                         .message = std::string(kDeadlineMessage),
                         .shows_immediately = true};
  Stop(now, state_.termination_grace);
}

void PodLife::Stop(Time now, Duration grace) {
  if (state_.stop) {
    state_.stop->kill_by = std::min(state_.stop->kill_by, now + grace);
    return;
  }
  state_.stop = StopOrder{now, now + grace};
  RecordKilling();
}

void PodLife::RecordKilling() {
  for (const Container& c : state_.containers) {
    if (c.Runs()) Record(c, kNormal, "Killing", "Stopping container " + c.name);
  }
}

// Updates the status of a pod that is not finished.
void PodLife::Report(Time now) {
  Probe(now);
  PodPhase phase = PhaseOf(state_);
  if (state_.ending && state_.ending->shows_immediately) phase = state_.ending->phase;
  if (IsTerminal(state_.phase)) phase = state_.phase;
  const bool runs = state_.AnyRuns();
  if (IsTerminal(phase) && !runs) {
    state_.over = true;
    state_.sandbox = false;
  }
  UpdateConditions(state_, phase, now);
  // A terminal phase is not reported while a container runs.
  if (!IsTerminal(phase) || !runs) SetPhase(phase);
}

// Updates the status of a pod whose containers have all been stopped.
void PodLife::Finish(Time now, const LifeGates& gates) {
  const bool plain_deletion = state_.deleting && !state_.ending;
  const bool was_initialized = HasBeenInitialized(state_);
  ReportStoppedContainers(state_);
  PodPhase phase =
      plain_deletion && gates.terminal_phase_before_removal ? FinalPhaseOf(state_) : PhaseOf(state_);
  if (!plain_deletion || gates.terminal_phase_before_removal)
    AccountForAllContainers(state_, was_initialized);
  state_.over = true;
  state_.sandbox = false;
  Probe(now);
  if (state_.ending) {
    phase = state_.ending->phase;
    state_.reason = state_.ending->reason;
    state_.message = state_.ending->message;
    if (state_.ending->disruption && gates.disruption_conditions) {
      SetCondition(state_, ConditionType::kDisruption, true, "TerminationByKubelet", state_.message, now);
    }
  }
  SetPhase(phase);
  UpdateConditions(state_, phase, now);
}

void PodLife::SetPhase(PodPhase phase) {
  if (state_.phase == phase) return;
  state_.phase = phase;
  state_.changes.phase = true;
}

std::optional<Time> PodLife::Next(Time now) const {
  if (state_.over) return std::nullopt;
  if (!state_.start_time || (state_.stop && !state_.AnyRuns())) return now;
  std::optional<Time> next;
  const auto wait_for = [&](std::optional<Time> at) {
    if (at && (!next || *at < *next)) next = at;
  };
  for (const Container& c : state_.containers) wait_for(NextOf(c, now));
  if (state_.active_deadline && !state_.stop) wait_for(*state_.start_time + *state_.active_deadline);
  return next;
}

std::vector<PodEvent> PodLife::TakeEvents() { return std::exchange(events_, {}); }
std::vector<ContainerEnd> PodLife::TakeEnds() { return std::exchange(ends_, {}); }
Json PodLife::TakePatch() { return TakeChanges(state_); }
Json PodLife::TakePatchAgainst(const Json& pod) { return TakeDifference(state_, pod); }
bool PodLife::AgreesWith(const Json& pod) const { return !state_.start_time || Agrees(state_, pod); }

bool PodLife::Crash(const PodHost::CrashOrder& order, Time now) {
  bool any = false;
  for (Container& c : state_.containers) {
    const bool meant =
        order.container.empty() ? c.kind == Container::Kind::kRegular : c.name == order.container;
    if (!meant || !c.Runs()) continue;
    c.crash = std::make_unique<Exit>(
        Exit{.code = order.exit_code,
             .reason = order.reason.empty() ? ReasonOfExit(order.exit_code) : order.reason,
             .finished = now});
    any = true;
  }
  return any;
}

bool PodLife::Fail(const PodHost::FailOrder& order, Time now) {
  if (state_.over || (state_.ending && !state_.ending->disruption)) return false;
  state_.ending = Ending{.reason = order.reason, .message = order.message};
  for (Container& c : state_.containers) {
    if (!c.Runs()) continue;
    c.crash = std::make_unique<Exit>(
        Exit{.code = order.exit_code, .reason = ReasonOfExit(order.exit_code), .finished = now});
  }
  if (!state_.stop) state_.stop = StopOrder{now, now};
  return true;
}

bool PodLife::Evict(const std::string& message, Time now) {
  if (state_.over || state_.ending) return false;
  Record(kWarning, kEvicted, message);
  state_.ending = Ending{.reason = std::string(kEvicted), .message = message, .disruption = true};
  Stop(now, kEvictionGrace);
  return true;
}

ContainerRun PodLife::RunFrom(const Container& container, Time started) const {
  const std::string* text = FindForRegular(*directions_.script, container, &api::ContainerScript::log);
  const Duration* every = FindForRegular(*directions_.script, container, &api::ContainerScript::log_every);
  return {container.name,
          started,
          {text != nullptr ? *text : "", every != nullptr ? std::optional(*every) : std::nullopt}};
}

std::vector<PastRun> PodLife::PastRuns() const {
  std::vector<PastRun> out;
  for (const Container& c : state_.containers) {
    for (const Exit* exit : {c.exit_before.get(), c.exit.get()})
      if (exit != nullptr && exit->started) out.push_back({RunFrom(c, *exit->started), exit->finished});
    if (c.at == Container::At::kRunning)
      out.push_back({RunFrom(c, c.started_at), c.unreported ? c.unreported->finished : std::nullopt});
  }
  return out;
}

ContainerRun PodLife::RunOf(std::string_view container) const {
  const auto found = std::find_if(state_.containers.begin(), state_.containers.end(),
                                  [&](const Container& c) { return c.name == container; });
  CHECK(found != state_.containers.end());
  return RunFrom(*found, found->started_at);
}

api::HoldPoints PodLife::HeldAt() const {
  if (state_.over) return {};
  const bool hangs = std::any_of(state_.containers.begin(), state_.containers.end(), [&](const Container& c) {
    return c.kind != Container::Kind::kInit && IgnoresStop(state_, c, directions_);
  });
  return {.ready = directions_.hold.ready && !state_.stop,
          .terminating = hangs || directions_.hold.terminating};
}

void PodLife::Record(std::string_view type, std::string_view reason, std::string message) {
  events_.push_back({type, reason, std::move(message)});
}

void PodLife::Record(const Container& container, std::string_view type, std::string_view reason,
                     std::string message) {
  const char* list =
      container.kind == Container::Kind::kRegular ? "spec.containers{" : "spec.initContainers{";
  events_.push_back({type, reason, std::move(message), container.name, list + container.name + "}"});
}

}  // namespace terrarium::kubelet_fake
