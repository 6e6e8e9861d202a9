#pragma once

#include <memory>

#include "testbed/invariants/rule.h"

namespace terrarium::testbed::invariants {

// Under podManagementPolicy OrderedReady, when the controller creates the pod of an ordinal:
//
//  - the ordinal before it has a pod, unless it is the set's first;
//  - each pod with a lower ordinal has been ready.
//
// Pods are recognised by their names. The controller may not have observed the newest changes: a pod that has
// been ready counts as ready, and a pod that was removed, or an ordinal before a first ordinal that was
// lowered, is exempt until the control plane has been idle.
//
// REQUIRES: statefulset-controller runs.
std::unique_ptr<Rule> MakeStatefulOrder(Report report);

}  // namespace terrarium::testbed::invariants
