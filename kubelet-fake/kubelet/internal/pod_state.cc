#include "kubelet-fake/kubelet/internal/pod_state.h"

#include <algorithm>

namespace terrarium::kubelet_fake {
namespace {

bool PolicyRestarts(RestartPolicy policy, int code) {
  return policy == RestartPolicy::kOnFailure ? code != 0 : policy == RestartPolicy::kAlways;
}

}  // namespace

std::string_view Name(ConditionType type) {
  constexpr std::array<std::string_view, kConditionTypes> kNames = {
      "PodReadyToStartContainers", "Initialized",  "Ready",
      "ContainersReady",           "PodScheduled", "DisruptionTarget"};
  return kNames[static_cast<std::size_t>(type)];
}

bool PodState::AnyRuns() const {
  return std::any_of(containers.begin(), containers.end(), [](const Container& c) { return c.Runs(); });
}

void PodState::Touch(const Container& container) {
  (container.kind == Container::Kind::kRegular ? changes.containers : changes.init_containers) = true;
}

// DIVERGES: a rule with the action RestartAllContainers restarts its own container only.
bool Restarts(const PodState& pod, const Container& container, int code) {
  if (container.kind == Container::Kind::kSidecar) return true;
  // An init container that has succeeded is done, even where everything else is restarted.
  if (container.kind == Container::Kind::kInit && code == 0) return false;
  if (!container.restart_policy) return PolicyRestarts(pod.restart_policy, code);
  for (const Container::RestartRule& rule : container.restart_rules) {
    const bool found = std::find(rule.codes.begin(), rule.codes.end(), code) != rule.codes.end();
    if (found == rule.listed) return true;
  }
  return PolicyRestarts(*container.restart_policy, code);
}

bool RegularContainersDone(const PodState& pod) {
  return std::all_of(pod.containers.begin(), pod.containers.end(), [&](const Container& c) {
    if (c.kind != Container::Kind::kRegular) return true;
    return c.at == Container::At::kTerminated && !Restarts(pod, c, c.exit->code);
  });
}

bool InitializationFailed(const PodState& pod) {
  return std::any_of(pod.containers.begin(), pod.containers.end(), [&](const Container& c) {
    return c.kind == Container::Kind::kInit && c.at == Container::At::kTerminated && c.exit->code != 0 &&
           !Restarts(pod, c, c.exit->code);
  });
}

const Container* InitContainerInTurn(const PodState& pod) {
  for (const Container& c : pod.containers) {
    if (c.kind == Container::Kind::kRegular) break;
    const bool succeeded = c.at == Container::At::kTerminated && c.exit->code == 0;
    if (c.kind == Container::Kind::kSidecar ? !c.started : !succeeded) return &c;
  }
  return nullptr;
}

}  // namespace terrarium::kubelet_fake
