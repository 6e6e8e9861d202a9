#pragma once

// Final statuses of a pod's containers.

#include "kubelet-fake/kubelet/internal/pod_state.h"

namespace terrarium::kubelet_fake {

// Sets the state of a container that has ended.
void SetEnded(PodState& pod, Container& container, std::unique_ptr<Exit> exit);
// Moves the unreported ends of containers to their statuses.
void ReportStoppedContainers(PodState& pod);
// Whether regular containers could have been running.
bool HasBeenInitialized(const PodState& pod);
// Sets the final state of waiting containers: their last termination, or a failure if they never ran although
// they could have (mirrors TerminatePod in pkg/kubelet/status, 1.36).
void AccountForAllContainers(PodState& pod, bool was_initialized);

}  // namespace terrarium::kubelet_fake
