#pragma once

#include <memory>

#include "testbed/invariants/rule.h"

namespace terrarium::testbed::invariants {

// The pods that a DaemonSet may have on a node: one that has not ended, or with maxSurge two that are neither
// ended nor terminating. Checked when the controller creates a pod.
//
// The rule counts pods that the controller itself created and that the DaemonSet selects: the controller may
// observe an adopted pod, or one whose labels were restored, too late. A DaemonSet whose maxSurge was removed
// may surge until the controller has observed that.
//
// REQUIRES: daemonset-controller runs.
std::unique_ptr<Rule> MakeDaemonPods(Report report);

}  // namespace terrarium::testbed::invariants
