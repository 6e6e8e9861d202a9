#pragma once

// The last words about a pod's containers.

#include "kubelet-fake/kubelet/internal/pod_state.h"

namespace terrarium::kubelet_fake {

// The container has ended like that.
void SetEnded(PodState& pod, Container& container, std::unique_ptr<Exit> exit);
// Containers that ended while the pod was being stopped show it now.
void ReportStoppedContainers(PodState& pod);
// Whether regular containers could have been running.
bool HasBeenInitialized(const PodState& pod);
// A pod does not end with containers that still wait: those that ended once show that; those that never ran,
// though they could have, count as failed (mirrors TerminatePod in pkg/kubelet/status, 1.36).
void AccountForAllContainers(PodState& pod, bool was_initialized);

}  // namespace terrarium::kubelet_fake
