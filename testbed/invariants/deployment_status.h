#pragma once

#include <memory>

#include "testbed/invariants/rule.h"

namespace terrarium::testbed::invariants {

// The status that the controller writes for a Deployment is the sum of what the statuses of its ReplicaSets tell:
// replicas, readyReplicas, availableReplicas and terminatingReplicas are each what the sum was at some revision since
// the one that the last status told of, each for itself and not all at the same revision. updatedReplicas is at most
// replicas, availableReplicas at most readyReplicas; unavailableReplicas is not looked at. When the plane is idle the
// four sums are those of the present.
//
// Its ReplicaSets are those that it controls and selects. `counts_terminating`: the gate is on; otherwise
// terminatingReplicas is absent, as it is when a ReplicaSet whose controller has seen it does not tell it.
//
// REQUIRES: deployment-controller runs.
std::unique_ptr<Rule> MakeDeploymentStatus(bool counts_terminating, Report report);

}  // namespace terrarium::testbed::invariants
