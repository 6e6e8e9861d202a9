#pragma once

// A pod's status as the kubelet writes it: the changed parts, as a strategic merge patch of pods/status.

#include "kubelet-fake/kubelet/internal/pod_state.h"

namespace terrarium::kubelet_fake {

// Returns {"metadata": {"uid": ...}, "status": {...}} with the changes since the last call and marks them as
// reported. Null: nothing has changed.
Json TakeChanges(PodState& pod);
// The same against a document whose status other clients may have written: all fields that differ from the
// kubelet's.
Json TakeDifference(PodState& pod, const Json& document);
// A quick check whether the document's status matches the last report. It skips minor fields that only the
// kubelet writes.
bool Agrees(const PodState& pod, const Json& document);

// The id of a container's n-th run. Deterministic: a restarted kubelet computes the same id.
std::string ContainerId(const PodState& pod, const Container& container);

}  // namespace terrarium::kubelet_fake
