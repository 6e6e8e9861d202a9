#pragma once

#include <memory>

#include "testbed/invariants/job_gates.h"
#include "testbed/invariants/rule.h"

namespace terrarium::testbed::invariants {

// What the status of a Job may say of its pods:
//
//  - No pod counts twice: succeeded and failed together, with what is put down to be counted, are never more than the
//    pods that have ended, are being deleted or have gone; succeeded alone never more than the pods (of an indexed Job:
//    the indexes) that have succeeded. Judged when the controller writes a status. Fewer are allowed: pods that a Job
//    gave up itself do not count.
//  - When the plane is idle, active, ready and terminating are a recount of the Job's pods, nothing is left to be
//    counted, and pods of a finished Job have lost their finalizer. terminating is absent while its gate is off.
//
// A Job's pods are those that it controls and selects. One that was there before the monitor begins with what its
// status told then; one whose status somebody else wrote is not held to the first point any more.
//
// REQUIRES: job-controller runs with those gates.
std::unique_ptr<Rule> MakeJobCounts(JobGates gates, Report report);

}  // namespace terrarium::testbed::invariants
