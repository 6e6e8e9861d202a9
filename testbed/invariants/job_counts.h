#pragma once

#include <memory>

#include "testbed/invariants/job_gates.h"
#include "testbed/invariants/rule.h"

namespace terrarium::testbed::invariants {

// The valid pod counts in the status of a Job:
//
//  - No pod counts twice. succeeded and failed together, including uncountedTerminatedPods, never exceed the
//    number of pods that have ended, are being deleted or are gone. succeeded alone never exceeds the number
//    of pods (of an indexed Job: the indexes) that have succeeded. Checked when the controller writes a
//    status. Smaller numbers are allowed: pods that a Job gave up itself do not count.
//  - When the control plane is idle, active, ready and terminating are a recount of the Job's pods,
//    uncountedTerminatedPods is empty, and the pods of a finished Job have lost their finalizer. terminating
//    is absent while its gate is off.
//
// A Job's pods are those that it controls and selects. For a Job that existed before the monitor started, the
// counts begin with its status at that time. A Job whose status another client wrote is exempt from the first
// point from then on.
//
// REQUIRES: job-controller runs with those gates.
std::unique_ptr<Rule> MakeJobCounts(JobGates gates, Report report);

}  // namespace terrarium::testbed::invariants
