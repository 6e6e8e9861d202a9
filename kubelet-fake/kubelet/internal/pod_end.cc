#include "kubelet-fake/kubelet/internal/pod_end.h"

#include <algorithm>
#include <utility>

namespace terrarium::kubelet_fake {
namespace {

using At = Container::At;
using Kind = Container::Kind;

void Account(PodState& pod, Container& container) {
  if (container.at == At::kTerminated) return;
  pod.Touch(container);
  container.at = At::kTerminated;
  container.crash_loop = false;
  if (container.exit) return;
  container.exit = std::make_unique<Exit>(
      Exit{.code = 137,
           .reason = "ContainerStatusUnknown",
           .message = "The container could not be located when the pod was terminated"});
}

}  // namespace

void SetEnded(PodState& pod, Container& container, std::unique_ptr<Exit> exit) {
  container.exit_before = std::move(container.exit);
  container.exit = std::move(exit);
  container.at = At::kTerminated;
  pod.Touch(container);
}

void ReportStoppedContainers(PodState& pod) {
  for (Container& c : pod.containers) {
    if (c.unreported) SetEnded(pod, c, std::move(c.unreported));
  }
}

bool HasBeenInitialized(const PodState& pod) {
  return pod.initialized || InitContainerInTurn(pod) == nullptr;
}

void AccountForAllContainers(PodState& pod, bool was_initialized) {
  // Of the init containers, those up to the last one that has ever started, or else the first.
  const auto first_regular = std::find_if(pod.containers.begin(), pod.containers.end(),
                                          [](const Container& c) { return c.kind == Kind::kRegular; });
  auto tried = first_regular;
  while (tried != pod.containers.begin() && !std::prev(tried)->EverStarted()) --tried;
  if (tried == pod.containers.begin() && first_regular != pod.containers.begin()) ++tried;
  std::for_each(pod.containers.begin(), tried, [&](Container& c) { Account(pod, c); });
  std::for_each(first_regular, pod.containers.end(), [&](Container& c) {
    if (was_initialized || c.exit) Account(pod, c);
  });
}

}  // namespace terrarium::kubelet_fake
