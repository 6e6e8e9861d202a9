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

// The status that a controller writes for a ReplicaSet or ReplicationController is a recount of its pods: replicas,
// fullyLabeledReplicas, readyReplicas and terminatingReplicas together are what the pods were at some revision since
// the one that the last status told of. An old view is allowed, an invented number is not. availableReplicas, which
// time changes as well, is at most readyReplicas. When the plane is idle the status tells the present, and so does
// availableReplicas.
//
// Its pods are those that it controls and selects. After a pod was adopted or what is counted has changed (template, or
// selector of a ReplicationController), pods and owner may have been seen at different revisions: then any status
// passes until one fits.
std::unique_ptr<Rule> MakeReplicaStatus(ReplicaStatusOptions options, Report report);

}  // namespace terrarium::testbed::invariants
