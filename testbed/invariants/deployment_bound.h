#pragma once

#include <memory>

#include "testbed/invariants/rule.h"

namespace terrarium::testbed::invariants {

// Under podReplacementPolicy TerminationComplete, the running and terminating pods of all ReplicaSets of a
// Deployment never grow to more than replicas + maxSurge (Recreate: replicas). The count of a ReplicaSet is
//
//     max(spec.replicas, live pods) + terminating pods
//
// of the pods that it controls and selects. So raising spec.replicas is judged immediately, before the pods
// exist. Being above the limit without growing is allowed: the user may have lowered the limit. The rule
// judges only what the controllers do:
//
//  - Pods that another client deleted (their ReplicaSet had no more than spec.replicas live pods) do not
//    count while they terminate, since a ReplicaSet replaces those immediately.
//  - Adopting or releasing pods and ReplicaSets changes the count without a violation.
//  - A controller that has not yet observed a change (status.observedGeneration) may act on the state before:
//    on the looser limit of the Deployment, on the larger spec.replicas of the ReplicaSet.
//
// REQUIRES: deployment-controller and replicaset-controller run with both gates on.
std::unique_ptr<Rule> MakeDeploymentBound(Report report);

}  // namespace terrarium::testbed::invariants
