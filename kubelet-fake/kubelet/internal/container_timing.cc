#include "kubelet-fake/kubelet/internal/container_timing.h"

#include <algorithm>

namespace terrarium::kubelet_fake {
namespace {

using Script = api::ContainerScript;

constexpr int kKilled = 137;
// The grace period of a container whose preStop hook or wait for its turn used up the pod's grace period.
constexpr Duration kShortestGrace = std::chrono::seconds(2);

// How long a container runs that its pod does not restart after success, as that of a Job.
constexpr Duration kTaskRunsFor = std::chrono::seconds(1);

bool IsSet(const bool* value) { return value != nullptr && *value; }

// Until a container ends by itself.
Duration RunsFor(const PodState& pod, const Container& container, const api::PodScript& script) {
  const Duration* run_for = FindForRegular(script, container, &Script::run_for);
  // A default of `forever` leaves a pod with an exit code of its own to end.
  if (run_for != nullptr && *run_for != api::kForever) return *run_for;
  if (FindForRegular(script, container, &Script::exit_code) != nullptr) return Duration::zero();
  if (run_for != nullptr) return api::kForever;
  switch (container.kind) {
    case Container::Kind::kInit: return Duration::zero();
    case Container::Kind::kSidecar: return api::kForever;
    case Container::Kind::kRegular: break;
  }
  const RestartPolicy policy = container.restart_policy.value_or(pod.restart_policy);
  return policy == RestartPolicy::kAlways ? api::kForever : kTaskRunsFor;
}

std::optional<DueExit> OwnExit(const PodState& pod, const Container& container,
                               const PodDirections& directions) {
  const api::PodScript& script = *directions.script;
  const Duration run_for = RunsFor(pod, container, script);
  if (run_for == api::kForever) return std::nullopt;
  if (directions.hold.ready && container.kind == Container::Kind::kRegular) return std::nullopt;
  const std::string* reason = FindForRegular(script, container, &Script::exit_reason);
  const int* code = FindForRegular(script, container, &Script::exit_code);
  const int exit_code = code != nullptr ? *code : 0;
  return DueExit{container.started_at + run_for, exit_code,
                 reason != nullptr ? *reason : ReasonOfExit(exit_code)};
}

std::optional<StopOrder> OrderFor(const PodState& pod, const Container& container) {
  if (!pod.stop || !container.stop) return pod.stop ? pod.stop : container.stop;
  return StopOrder{std::min(pod.stop->since, container.stop->since),
                   std::min(pod.stop->kill_by, container.stop->kill_by)};
}

// Sidecars stop after the regular containers, in reverse order. False: containers that stop earlier still
// run. True: *since is moved to the end of the last of those, if that is later.
bool IsItsTurn(const PodState& pod, const Container& container, Time* since) {
  if (container.kind != Container::Kind::kSidecar) return true;
  bool after = false;
  for (const Container& other : pod.containers) {
    if (&other == &container) {
      after = true;
    } else if (other.kind == Container::Kind::kRegular ||
               (after && other.kind == Container::Kind::kSidecar)) {
      if (other.Runs()) return false;
      const std::unique_ptr<Exit>& exit = other.unreported ? other.unreported : other.exit;
      if (exit && exit->finished) *since = std::max(*since, *exit->finished);
    }
  }
  return true;
}

std::optional<DueExit> StoppedExit(const PodState& pod, const Container& container,
                                   const PodDirections& directions) {
  const std::optional<StopOrder> order = OrderFor(pod, container);
  if (!order || IgnoresStop(pod, container, directions)) return std::nullopt;
  const api::PodScript& script = *directions.script;
  Time since = order->since;
  const bool its_turn = !pod.stop || IsItsTurn(pod, container, &since);
  const int code =
      directions.stop_exit_code.value_or(ValueForAll(script, container, &Script::stop_exit_code, 0));
  if (pod.released && directions.stop_exit_code) return DueExit{*pod.released, code, ReasonOfExit(code)};
  if (!its_turn) since = std::max(since, order->kill_by);  // it is asked to stop then at the latest
  const Duration grace = std::max(order->kill_by - since, Duration::zero());
  const Time signal = since + std::min(container.pre_stop, grace);
  const bool waited = signal > order->since;
  const Time kill = waited && signal >= order->kill_by ? signal + kShortestGrace : order->kill_by;
  const Time end = signal + ValueForAll(script, container, &Script::stop_after, Duration::zero());
  const bool killed = end > kill || ValueForAll(script, container, &Script::ignore_sigterm, false);
  // A held container ends as if it had not been held, but not before its release.
  const Time at = std::max(killed ? kill : end, pod.released.value_or(Time::min()));
  return DueExit{at, killed ? kKilled : code, ReasonOfExit(killed ? kKilled : code)};
}

}  // namespace

std::string ReasonOfExit(int code) { return code == 0 ? "Completed" : "Error"; }

Time StartDue(const PodState& pod, const Container& container, const api::PodScript& script) {
  const Time pod_starts = *pod.start_time + script.all.start_delay.value_or(Duration::zero());
  const Duration* own = script.FindOwn(container.name, &Script::start_delay);
  return std::max(*container.eligible, pod_starts) + (own != nullptr ? *own : Duration::zero());
}

bool IgnoresStop(const PodState& pod, const Container& container, const PodDirections& directions) {
  if (pod.stop && directions.hold.terminating) return true;
  return !directions.let_go && ValueForAll(*directions.script, container, &Script::hang, false);
}

std::optional<DueExit> ExitDue(const PodState& pod, const Container& container,
                               const PodDirections& directions) {
  if (container.crash)
    return DueExit{*container.crash->finished, container.crash->code, container.crash->reason};
  if (pod.stop && directions.hold.terminating) return std::nullopt;
  std::optional<DueExit> own = OwnExit(pod, container, directions);
  if (own && pod.released) own->at = std::max(own->at, *pod.released);
  if (own && pod.redirected) own->at = std::max(own->at, *pod.redirected);
  std::optional<DueExit> stopped = StoppedExit(pod, container, directions);
  if (!own || !stopped) return own ? own : stopped;
  return own->at <= stopped->at ? own : stopped;
}

Probed ProbedAt(const Container& container, const PodDirections& directions, Time now) {
  Probed out;
  const auto wait_for = [&](Time at) {
    if (at > now && (!out.next || at < *out.next)) out.next = at;
  };
  const Time begun = container.started_at + container.startup_probe.value_or(Duration::zero());
  out.started = now >= begun;
  wait_for(begun);
  const api::PodScript& script = *directions.script;
  if (IsSet(FindForRegular(script, container, &Script::never_ready))) return out;
  if (directions.hold.ready && container.kind == Container::Kind::kRegular) return out;
  const Duration* delay = FindForRegular(script, container, &Script::ready_delay);
  const Duration after = std::max(container.readiness_probe.value_or(Duration::zero()),
                                  delay != nullptr ? *delay : Duration::zero());
  const Time first = std::max(begun, container.started_at + after);
  wait_for(first);
  out.ready = now >= first;
  if (const std::vector<api::ProbeFlip>* flips = FindForRegular(script, container, &Script::readiness)) {
    for (const api::ProbeFlip& flip : *flips) {
      if (now >= container.started_at + flip.after) out.ready = flip.passes && now >= first;
      wait_for(container.started_at + flip.after);
    }
  }
  return out;
}

std::optional<Time> LivenessFails(const Container& container, const api::PodScript& script) {
  if (container.kind == Container::Kind::kInit) return std::nullopt;
  const Duration* after = FindForRegular(script, container, &Script::liveness);
  return after != nullptr ? std::optional<Time>(container.started_at + *after) : std::nullopt;
}

}  // namespace terrarium::kubelet_fake
