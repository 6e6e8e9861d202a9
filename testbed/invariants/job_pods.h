#pragma once

#include <memory>

#include "testbed/invariants/job_gates.h"
#include "testbed/invariants/rule.h"

namespace terrarium::testbed::invariants {

// Which pods a Job may have:
//
//  - No index has two live pods. Where terminating pods hold their place (podReplacementPolicy Failed with its gate on,
//    or a podFailurePolicy), an index has one pod that has not ended. Judged when the controller creates a pod.
//  - A Job that the controller has declared Complete or Failed has no live pod, and no terminating one either unless
//    both gates are off; and no pod is created for it any more.
//
// Counted are pods that the controller itself created and that the Job selects: one that was adopted, or that got its
// labels back, may be seen too late. A Job whose policy becomes stricter is held to it once the plane has been idle,
// since nothing tells when the controller has seen the change.
//
// REQUIRES: job-controller runs with those gates.
std::unique_ptr<Rule> MakeJobPods(JobGates gates, Report report);

}  // namespace terrarium::testbed::invariants
