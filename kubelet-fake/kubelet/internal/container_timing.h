#pragma once

// Computes from script and spec when a container starts, ends and changes its probe results. Pure: the caller
// asks again after every change, so a changed script applies to everything that has not happened yet.

#include <optional>
#include <string>

#include "kubelet-fake/kubelet/internal/pod_state.h"
#include "kubelet-fake/kubelet/rule_book.h"

namespace terrarium::kubelet_fake {

// The script's value of a field that applies to regular containers only, unless the script names the
// container.
template <typename T>
const T* FindForRegular(const api::PodScript& script, const Container& container,
                        std::optional<T> api::ContainerScript::*field) {
  return container.kind == Container::Kind::kRegular ? script.Find(container.name, field)
                                                     : script.FindOwn(container.name, field);
}
// The script's value of a field that applies to every container.
template <typename T>
T ValueForAll(const api::PodScript& script, const Container& container,
              std::optional<T> api::ContainerScript::*field, T otherwise) {
  const T* value = script.Find(container.name, field);
  return value != nullptr ? *value : otherwise;
}

// When the container first starts. REQUIRES: container.eligible, pod.start_time
Time StartDue(const PodState& pod, const Container& container, const api::PodScript& script);

struct DueExit {
  Time at;
  int code;
  std::string reason;
};
// How and when a running container will end if nothing else happens. nullopt: it runs until it is stopped.
std::optional<DueExit> ExitDue(const PodState& pod, const Container& container,
                               const PodDirections& directions);
// Whether the container ignores a request to stop until the pod is released.
bool IgnoresStop(const PodState& pod, const Container& container, const PodDirections& directions);

struct Probed {
  bool started = false;
  bool ready = false;
  std::optional<Time> next;  // when a probe result may change
};
// REQUIRES: the container is running.
Probed ProbedAt(const Container& container, const PodDirections& directions, Time now);
// When its liveness probe begins to fail.
std::optional<Time> LivenessFails(const Container& container, const api::PodScript& script);

// "Completed" or "Error".
std::string ReasonOfExit(int code);

}  // namespace terrarium::kubelet_fake
