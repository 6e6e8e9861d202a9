// One step of a pod's containers: which end, which start, and which fail their liveness probe.

#include <algorithm>
#include <utility>

#include "api/base/duration.h"
#include "api/base/field_error.h"
#include "controllers/runtime/event_recorder.h"
#include "kubelet-fake/kubelet/internal/container_timing.h"
#include "kubelet-fake/kubelet/internal/pod_end.h"
#include "kubelet-fake/kubelet/internal/status_patch.h"
#include "kubelet-fake/kubelet/pod_life.h"

namespace terrarium::kubelet_fake {
namespace {

using At = Container::At;
using Kind = Container::Kind;
using controllers::kNormal;
using controllers::kWarning;

constexpr Duration kFirstBackOff = std::chrono::seconds(10);
constexpr Duration kLongestBackOff = std::chrono::minutes(5);
// A container that ran for longer than this restarts without a back-off.
constexpr Duration kBackOffForgotten = std::chrono::minutes(10);
constexpr std::string_view kImageBytes = "20000000";

bool BackOffExpired(const Container& container) {
  return container.back_off == Duration::zero() ||
         *container.exit->finished - container.back_off_set > kBackOffForgotten;
}

}  // namespace

void PodLife::MoveContainers(Time now) {
  for (Container& c : state_.containers) c.moved = false;
  EndDueContainers(now);
  if (state_.stop) return;
  StartDueContainers(now);
  for (Container& c : state_.containers) CheckLiveness(c, now);
  // Sidecars stop when the regular containers are done or initialization has failed.
  if (state_.AnyRuns() && (RegularContainersDone(state_) || InitializationFailed(state_))) {
    Stop(now, state_.termination_grace);
  }
}

// In reverse order, since sidecars stop from the last to the first.
void PodLife::EndDueContainers(Time now) {
  for (auto c = state_.containers.rbegin(); c != state_.containers.rend(); ++c) {
    if (!c->Runs()) continue;
    const std::optional<DueExit> due = ExitDue(state_, *c, directions_);
    if (!due || due->at > now) continue;
    auto exit = std::make_unique<Exit>(Exit{.code = due->code,
                                            .reason = due->reason,
                                            .started = c->started_at,
                                            .finished = std::max(due->at, c->started_at),
                                            .container_id = ContainerId(state_, *c)});
    ends_.push_back({c->name, *exit->finished});
    c->moved = true;
    c->crash.reset();
    c->stop.reset();
    if (state_.stop) {
      c->unreported = std::move(exit);
    } else {
      SetEnded(state_, *c, std::move(exit));
    }
  }
}

void PodLife::StartDueContainers(Time now) {
  if (!state_.sandbox) {
    state_.sandbox = true;
    state_.changes.address = true;
  }
  for (Container& c : state_.containers) {
    if (c.moved || c.at == At::kRunning || !MayStart(c)) continue;
    if (c.kind == Kind::kRegular) state_.initialized = true;
    if (c.exit) {
      StartAgain(c, now);
    } else {
      StartFirst(c, now);
    }
  }
}

bool PodLife::MayStart(const Container& container) const {
  if (InitializationFailed(state_)) return false;
  const bool initialized = state_.initialized || InitContainerInTurn(state_) == nullptr;
  if (!initialized) return InitContainerInTurn(state_) == &container;
  if (container.kind == Kind::kSidecar) return !RegularContainersDone(state_);
  return container.kind == Kind::kRegular;
}

void PodLife::StartFirst(Container& container, Time now) {
  const bool first_check = !container.eligible;
  if (first_check) container.eligible = now;
  const Time due = StartDue(state_, container, *directions_.script);
  if (due > now) {
    if (first_check) Record(container, kNormal, "Pulling", "Pulling image " + api::Quote(container.image));
    return;
  }
  Run(container, now, now - *container.eligible);
}

void PodLife::StartAgain(Container& container, Time now) {
  if (!container.crash_loop && !Restarts(state_, container, container.exit->code)) return;
  if (!container.exit->finished) container.exit->finished = now;
  if (!BackOffExpired(container) && now < *container.exit->finished + container.back_off) {
    if (container.crash_loop) return;
    container.crash_loop = true;
    container.at = At::kWaiting;
    container.moved = true;
    state_.Touch(container);
    return Record(container, kWarning, "BackOff",
                  "Back-off restarting failed container " + container.name + " in pod " + state_.name.name +
                      "_" + state_.name.ns + "(" + state_.uid + ")");
  }
  container.back_off =
      BackOffExpired(container) ? kFirstBackOff : std::min(container.back_off * 2, kLongestBackOff);
  container.back_off_set = now;
  container.crash_loop = false;
  ++container.restarts;
  Run(container, now, Duration::zero());
}

void PodLife::Run(Container& container, Time now, Duration pulled_for) {
  container.at = At::kRunning;
  container.started_at = now;
  // Set here already, since the next container in the spec's order may depend on it within this step.
  container.started = !container.startup_probe;
  container.moved = true;
  state_.Touch(container);
  const std::string image = api::Quote(container.image);
  if (pulled_for > Duration::zero() || container.always_pulls) {
    const std::string took = api::FormatDuration(pulled_for);
    if (pulled_for == Duration::zero()) Record(container, kNormal, "Pulling", "Pulling image " + image);
    Record(container, kNormal, "Pulled",
           "Successfully pulled image " + image + " in " + took + " (" + took +
               " including waiting). Image size: " + std::string(kImageBytes) + " bytes.");
  } else {
    Record(container, kNormal, "Pulled",
           "Container image " + image + " already present on machine and can be accessed by the pod");
  }
  Record(container, kNormal, "Created", "Container created");
  Record(container, kNormal, "Started", "Container started");
}

void PodLife::CheckLiveness(Container& container, Time now) {
  if (!container.Runs() || container.stop) return;
  const std::optional<Time> fails = LivenessFails(container, *directions_.script);
  if (!fails || *fails > now) return;
  const RestartPolicy policy = container.restart_policy.value_or(state_.restart_policy);
  Record(container, kWarning, "Unhealthy", "Liveness probe failed: ");
  Record(container, kNormal, "Killing",
         "Container " + container.name + " failed liveness probe" +
             (policy != RestartPolicy::kNever ? ", will be restarted" : ""));
  container.stop = StopOrder{now, now + container.liveness_grace.value_or(state_.termination_grace)};
}

void PodLife::Probe(Time now) {
  for (Container& c : state_.containers) {
    if (c.unreported) continue;  // its end is not reported yet
    Probed probed;
    if (c.at == At::kRunning && c.kind == Kind::kInit) {
      probed.started = true;
    } else if (c.at == At::kRunning) {
      probed = ProbedAt(c, directions_, now);
      probed.ready = probed.ready && probed.started;
    } else {
      probed.ready = c.kind == Kind::kInit && c.at == At::kTerminated && c.exit->code == 0;
    }
    if (probed.started == c.started && probed.ready == c.ready) continue;
    if (c.ready && !probed.ready && c.at == At::kRunning && c.readiness_probe) {
      Record(c, kWarning, "Unhealthy", "Readiness probe failed: ");
    }
    c.started = probed.started;
    c.ready = probed.ready;
    state_.Touch(c);
  }
}

std::optional<Time> PodLife::NextOf(const Container& container, Time now) const {
  if (container.unreported) return std::nullopt;
  std::optional<Time> next;
  const auto wait_for = [&](std::optional<Time> at) {
    if (at && (!next || *at < *next)) next = at;
  };
  if (container.at == At::kRunning) {
    if (const std::optional<DueExit> due = ExitDue(state_, container, directions_)) wait_for(due->at);
    if (container.kind != Kind::kInit) wait_for(ProbedAt(container, directions_, now).next);
    if (!container.stop && !state_.stop) wait_for(LivenessFails(container, *directions_.script));
  } else if (!state_.stop && MayStart(container)) {
    if (!container.exit) {
      wait_for(container.eligible ? StartDue(state_, container, *directions_.script) : now);
    } else if (container.crash_loop) {
      wait_for(*container.exit->finished + container.back_off);
    } else if (Restarts(state_, container, container.exit->code)) {
      wait_for(now);
    }
  }
  return next;
}

}  // namespace terrarium::kubelet_fake
