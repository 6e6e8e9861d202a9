#pragma once

// When things happen to a container, from its script and its spec. Pure: asked again after every change, so that a
// script that changes counts where it still matters.

#include <optional>
#include <string>

#include "kubelet-fake/kubelet/internal/pod_state.h"
#include "kubelet-fake/kubelet/rule_book.h"

namespace terrarium::kubelet_fake {

// What the script says of a container in a matter that without a container's name is meant for regular ones only, ...
template <typename T>
const T* Said(const api::PodScript& script, const Container& container,
              std::optional<T> api::ContainerScript::*field) {
  return container.kind == Container::Kind::kRegular ? script.Find(container.name, field)
                                                     : script.FindOwn(container.name, field);
}
// ... and in one that is meant for every container.
template <typename T>
T SaidOfAll(const api::PodScript& script, const Container& container, std::optional<T> api::ContainerScript::*field,
            T otherwise) {
  const T* said = script.Find(container.name, field);
  return said != nullptr ? *said : otherwise;
}

// Its first start. REQUIRES: container.eligible, pod.start_time
Time StartDue(const PodState& pod, const Container& container, const api::PodScript& script);

struct DueExit {
  Time at;
  int code;
  std::string reason;
};
// How and when a running container will end if nothing else happens; nullopt: not by itself.
std::optional<DueExit> ExitDue(const PodState& pod, const Container& container, const PodDirections& directions);
// Whether it stays although it has been asked to stop, until somebody releases it.
bool Clings(const PodState& pod, const Container& container, const PodDirections& directions);

struct Probed {
  bool started = false;
  bool ready = false;
  std::optional<Time> next;  // when one of them may change
};
// REQUIRES: the container runs.
Probed ProbedAt(const Container& container, const PodDirections& directions, Time now);
// When its liveness probe begins to fail.
std::optional<Time> LivenessFails(const Container& container, const api::PodScript& script);

// "Completed" or "Error".
std::string ReasonOfExit(int code);

}  // namespace terrarium::kubelet_fake
