#pragma once

#include <memory>

#include "testbed/invariants/rule.h"

namespace terrarium::testbed::invariants {

// The status that the controller writes for a Deployment is the sum of its ReplicaSets' statuses. Each of
// replicas, readyReplicas, availableReplicas and terminatingReplicas equals the sum at some revision since
// the one that the last status reported; the four may come from different revisions. updatedReplicas is at
// most replicas, and availableReplicas at most readyReplicas. unavailableReplicas is not checked. When the
// control plane is idle the four equal the current sums.
//
// The ReplicaSets of a Deployment are those that it controls and selects. terminatingReplicas is absent, even
// with TerminatingCounts::kReported, while a ReplicaSet whose controller has observed it does not report its
// own.
//
// REQUIRES: deployment-controller runs.
std::unique_ptr<Rule> MakeDeploymentStatus(TerminatingCounts terminating, Report report);

}  // namespace terrarium::testbed::invariants
