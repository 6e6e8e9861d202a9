#pragma once

// The phase and the conditions of a pod, computed from its containers as Kubernetes' kubelet does.

#include "kubelet-fake/kubelet/internal/pod_state.h"

namespace terrarium::kubelet_fake {

// For a pod whose containers may still be restarted.
PodPhase PhaseOf(const PodState& pod);
// For a pod that has been stopped: no container runs again.
PodPhase FinalPhaseOf(const PodState& pod);

// Updates the kubelet's own conditions for `phase`, which need not have been reported yet.
void UpdateConditions(PodState& pod, PodPhase phase, Time now);
void SetCondition(PodState& pod, ConditionType type, bool holds, std::string_view reason, std::string message,
                  Time now);

}  // namespace terrarium::kubelet_fake
