#pragma once

#include <memory>

#include "testbed/invariants/job_gates.h"
#include "testbed/invariants/rule.h"

namespace terrarium::testbed::invariants {

// The pods that a Job may have:
//
//  - No index has two live pods. Where terminating pods are not replaced (podReplacementPolicy Failed with
//    its gate on, or a podFailurePolicy), no index has two pods that have not ended. Checked when the
//    controller creates a pod.
//  - A Job that the controller has declared Complete or Failed has no live pod, and no terminating pod either
//    unless both gates are off. No further pod is created for it.
//
// The rule counts pods that the controller itself created and that the Job selects: the controller may
// observe an adopted pod, or one whose labels were restored, too late. A stricter policy of a Job applies
// once the control plane has been idle, since no field shows when the controller has observed the change.
//
// REQUIRES: job-controller runs with those gates.
std::unique_ptr<Rule> MakeJobPods(JobGates gates, Report report);

}  // namespace terrarium::testbed::invariants
