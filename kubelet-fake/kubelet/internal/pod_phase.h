#pragma once

// The phase and the conditions that follow from where a pod's containers stand, in the words of Kubernetes'
// kubelet.

#include "kubelet-fake/kubelet/internal/pod_state.h"

namespace terrarium::kubelet_fake {

// Of a pod whose containers may still be restarted.
PodPhase PhaseOf(const PodState& pod);
// Of one that has been stopped: no container runs again.
PodPhase FinalPhaseOf(const PodState& pod);

// Brings the kubelet's own conditions up to date for that phase, which need not have been reported yet.
void UpdateConditions(PodState& pod, PodPhase phase, Time now);
void SetCondition(PodState& pod, ConditionType type, bool holds, std::string_view reason, std::string message,
                  Time now);

}  // namespace terrarium::kubelet_fake
