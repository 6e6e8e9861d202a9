#pragma once

#include <memory>

#include "testbed/invariants/rule.h"

namespace terrarium::testbed::invariants {

// Under podReplacementPolicy TerminationComplete, running and terminating pods of all ReplicaSets of a Deployment never
// grow to above replicas + maxSurge (Recreate: replicas). What is counted for a ReplicaSet is
//
//     max(spec.replicas, live pods) + terminating pods
//
// of the pods that it controls and selects, so raising spec.replicas is judged at once, before the pods are there.
// Being above the limit without growing is allowed: the user may have lowered it. Only what the controllers do is
// judged:
//
//  - Pods that somebody else deleted (their ReplicaSet had no more than spec.replicas live ones) do not count while
//    they terminate, since a ReplicaSet replaces those at once.
//  - Pods and ReplicaSets that are adopted or released change the count, and nobody is blamed.
//  - A controller that has not yet said that it saw a change (status.observedGeneration) may act on what was before:
//    on the looser limit of the Deployment, on the larger spec.replicas of the ReplicaSet.
//
// REQUIRES: deployment-controller and replicaset-controller run with both gates on.
std::unique_ptr<Rule> MakeDeploymentBound(Report report);

}  // namespace terrarium::testbed::invariants
