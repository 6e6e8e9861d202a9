#pragma once

// Reads a pod's document into a PodState.

#include "kubelet-fake/kubelet/internal/pod_state.h"

namespace terrarium::kubelet_fake {

// Reads the whole document. A status that an earlier kubelet wrote is adopted and not reported again.
PodState ReadPod(const Json& pod);
// Reads what may change during a pod's life: generation, deletion, deadline, the conditions of readiness
// gates. `now` is when the kubelet observes the change; a deletion's grace period starts then.
void ReadChanges(const Json& pod, Time now, PodState& state);
// The phase in the document; kPending when it is missing or unknown.
PodPhase PhaseIn(const Json& pod);

}  // namespace terrarium::kubelet_fake
