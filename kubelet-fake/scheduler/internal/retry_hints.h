#pragma once

// Whether a change may make a class of unschedulable pods schedulable, by the filters that rejected nodes at
// the last attempt (queueing hints).

#include "kubelet-fake/scheduler/internal/node_info.h"
#include "kubelet-fake/scheduler/internal/pod_class.h"

namespace terrarium::kubelet_fake::scheduling {

// A node was added (`before` has no object) or has changed. REQUIRES: pod_class.failure
bool NodeMayHelp(const PodClass& pod_class, const NodeFacts& before, const NodeFacts& after);

// A node was removed. REQUIRES: pod_class.failure
bool RemovedNodeMayHelp(const PodClass& pod_class, const NodeFacts& before);

// A claim was added, changed or removed. REQUIRES: pod_class.failure
bool ClaimMayHelp(const PodClass& pod_class, const api::ObjectName& claim);
// A volume or a storage class was. REQUIRES: pod_class.failure
bool VolumeMayHelp(const PodClass& pod_class);

// Pods of the class `gone` no longer count on `node`, which is nullptr when the node is not known. REQUIRES:
// pod_class.failure, and its groups are current.
bool FreedNodeMayHelp(const PodClass& pod_class, const PodClass& gone, const NodeInfo* node);

// Pods of the class `come` have been placed. REQUIRES: pod_class.failure
bool PlacedPodMayHelp(const PodClass& pod_class, const PodClass& come);

}  // namespace terrarium::kubelet_fake::scheduling
