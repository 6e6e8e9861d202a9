#pragma once

// From a pod's document to what the kubelet remembers of it.

#include "kubelet-fake/kubelet/internal/pod_state.h"

namespace terrarium::kubelet_fake {

// The whole of it. A status that an earlier kubelet wrote is taken up: nothing of it is reported again.
PodState ReadPod(const Json& pod);
// What may change while a pod lives: generation, deletion, deadline, the conditions of readiness gates. `now` is when
// we learn of it: a deletion counts from then.
void ReadChanges(const Json& pod, Time now, PodState& state);
// The phase in the document, unless somebody invented another.
PodPhase PhaseIn(const Json& pod);

}  // namespace terrarium::kubelet_fake
