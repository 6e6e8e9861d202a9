#pragma once

// A pod's status as the kubelet writes it: the parts that changed, as a strategic merge patch of pods/status.

#include "kubelet-fake/kubelet/internal/pod_state.h"

namespace terrarium::kubelet_fake {

// {"metadata": {"uid": ...}, "status": {...}} with what has changed since the last call, or null when nothing has; it
// counts as reported from then on.
Json TakeChanges(PodState& pod);
// The same against a document to whose status others may have written: everything in which it differs from ours.
Json TakeDifference(PodState& pod, const Json& document);
// A quick look: whether the document's status says what was last reported. Small things that only we write are not
// compared.
bool Agrees(const PodState& pod, const Json& document);

// The identity of a container's n-th run: the same whoever computes it.
std::string ContainerId(const PodState& pod, const Container& container);

}  // namespace terrarium::kubelet_fake
