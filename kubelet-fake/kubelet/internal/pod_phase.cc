#include "kubelet-fake/kubelet/internal/pod_phase.h"

#include <algorithm>
#include <utility>

#include "api/base/field_error.h"

namespace terrarium::kubelet_fake {
namespace {

using At = Container::At;
using Kind = Container::Kind;

struct Verdict {
  bool holds = true;
  std::string_view reason = {};
  std::string message = {};
};

// As Go prints a list of strings: [a b].
template <typename Belongs>
std::string List(const PodState& pod, const Belongs& belongs) {
  std::string out;
  for (const Container& c : pod.containers) {
    if (belongs(c)) out.append(out.empty() ? "[" : " ").append(c.name);
  }
  return out.empty() ? out : out + "]";
}

bool AnyRegularStarted(const PodState& pod) {
  return std::any_of(pod.containers.begin(), pod.containers.end(),
                     [](const Container& c) { return c.kind == Kind::kRegular && c.at != At::kWaiting; });
}

Verdict Initialized(const PodState& pod, PodPhase phase) {
  if (phase == PodPhase::kSucceeded) return {true, "PodCompleted"};
  // Once true it stays so, whatever init containers do later.
  if (AnyRegularStarted(pod) || pod.At(ConditionType::kInitialized).holds) return {};
  const std::string incomplete = List(pod, [](const Container& c) {
    return c.kind == Kind::kInit ? !c.ready : c.kind == Kind::kSidecar && !c.started;
  });
  if (incomplete.empty()) return {};
  return {false, "ContainersNotInitialized", "containers with incomplete status: " + incomplete};
}

Verdict ContainersReady(const PodState& pod, PodPhase phase) {
  if (phase == PodPhase::kSucceeded) return {false, "PodCompleted"};
  if (phase == PodPhase::kFailed) return {false, "PodFailed"};
  const std::string unready = List(pod, [](const Container& c) { return c.kind != Kind::kInit && !c.ready; });
  if (unready.empty()) return {};
  return {false, "ContainersNotReady", "containers with unready status: " + unready};
}

Verdict Ready(const PodState& pod, Verdict containers_ready) {
  if (!containers_ready.holds) return containers_ready;
  std::string message;
  for (const auto& [type, status] : pod.readiness_gates) {
    if (status == "True") continue;
    if (!message.empty()) message += ", ";
    if (status.empty()) {
      message += "corresponding condition of pod readiness gate " + api::Quote(type) + " does not exist.";
    } else {
      message += "the status of pod readiness gate " + api::Quote(type) + " is not \"True\", but " + status;
    }
  }
  if (message.empty()) return {};
  return {false, "ReadinessGatesNotReady", std::move(message)};
}

}  // namespace

PodPhase PhaseOf(const PodState& pod) {
  if (InitializationFailed(pod)) return PodPhase::kFailed;
  int waiting = 0, running = 0, stopped = 0, restarting = 0, failed = 0;
  for (const Container& c : pod.containers) {
    if (c.kind == Kind::kInit) {
      if (c.at == At::kRunning || (c.at == At::kWaiting && !c.exit)) ++waiting;
      continue;
    }
    if (c.kind == Kind::kSidecar) {
      // One that has ended does not count, and one that starts again does not make a running pod pending.
      if (c.at == At::kRunning) ++running;
      if (c.at == At::kWaiting && !c.exit) ++waiting;
      if (c.at == At::kRunning && !c.started && !AnyRegularStarted(pod)) ++waiting;
      continue;
    }
    if (c.at == At::kRunning)
      ++running;
    else if (!c.exit)
      ++waiting;
    else {
      ++stopped;
      if (c.at == At::kWaiting || Restarts(pod, c, c.exit->code)) ++restarting;
      if (c.exit->code != 0) ++failed;
    }
  }
  if (waiting > 0) return PodPhase::kPending;
  if (running > 0) return PodPhase::kRunning;
  if (stopped == 0) return PodPhase::kPending;
  if (restarting > 0) return PodPhase::kRunning;
  return failed == 0 ? PodPhase::kSucceeded : PodPhase::kFailed;
}

PodPhase FinalPhaseOf(const PodState& pod) {
  const bool succeeded = std::all_of(pod.containers.begin(), pod.containers.end(), [](const Container& c) {
    if (c.kind == Kind::kSidecar) return true;
    return c.at == At::kTerminated && c.exit->code == 0;
  });
  return succeeded ? PodPhase::kSucceeded : PodPhase::kFailed;
}

void SetCondition(PodState& pod, ConditionType type, bool holds, std::string_view reason, std::string message,
                  Time now) {
  Condition& condition = pod.At(type);
  const bool same = condition.present && condition.holds == holds;
  if (same && condition.reason == reason && condition.message == message) return;
  if (!same) condition.since = now;
  condition.present = true;
  condition.holds = holds;
  condition.reason = reason;
  condition.message = std::move(message);
  condition.reported = false;
}

void UpdateConditions(PodState& pod, PodPhase phase, Time now) {
  const auto set = [&](ConditionType type, Verdict verdict) {
    SetCondition(pod, type, verdict.holds, verdict.reason, std::move(verdict.message), now);
  };
  SetCondition(pod, ConditionType::kReadyToStartContainers, pod.sandbox, "", "", now);
  set(ConditionType::kInitialized, Initialized(pod, phase));
  const Verdict containers_ready = ContainersReady(pod, phase);
  set(ConditionType::kReady, Ready(pod, containers_ready));
  set(ConditionType::kContainersReady, containers_ready);
  SetCondition(pod, ConditionType::kScheduled, true, "", "", now);
}

}  // namespace terrarium::kubelet_fake
