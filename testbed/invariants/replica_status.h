#pragma once

#include <memory>
#include <set>
#include <string>

#include "testbed/invariants/rule.h"

namespace terrarium::testbed::invariants {

struct ReplicaStatusOptions {
  std::set<std::string> resources;  // whose controllers run: "replicasets", "replicationcontrollers"
  TerminatingCounts terminating = TerminatingCounts::kAbsent;  // of ReplicaSets
};

// The status that a controller writes for a ReplicaSet or ReplicationController is a recount of its pods.
// replicas, fullyLabeledReplicas, readyReplicas and terminatingReplicas together match the pods at one
// revision since the one that the last status reported. An old view is allowed, an invented number is not.
// availableReplicas, which also changes with time, is at most readyReplicas. When the control plane is idle
// the status, including availableReplicas, matches the current pods.
//
// The pods are those that the owner controls and selects. After an adoption, or a change of the template or
// of a ReplicationController's selector, the controller may have observed pods and owner at different
// revisions. Then any status passes until one matches.
std::unique_ptr<Rule> MakeReplicaStatus(ReplicaStatusOptions options, Report report);

}  // namespace terrarium::testbed::invariants
