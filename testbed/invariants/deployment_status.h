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
// Its ReplicaSets are those that it controls and selects. terminatingReplicas that are told are absent all the same when
// a ReplicaSet whose controller has seen it does not tell its own.
//
// REQUIRES: deployment-controller runs.
std::unique_ptr<Rule> MakeDeploymentStatus(TerminatingCounts terminating, Report report);

}  // namespace terrarium::testbed::invariants
