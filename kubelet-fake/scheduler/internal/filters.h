#pragma once

#include "kubelet-fake/scheduler/internal/cluster.h"
#include "kubelet-fake/scheduler/internal/diagnosis.h"
#include "kubelet-fake/scheduler/internal/node_info.h"
#include "kubelet-fake/scheduler/internal/pod_class.h"
#include "kubelet-fake/scheduler/internal/pod_record.h"

namespace terrarium::kubelet_fake::scheduling {

// Whether a pod of the class may run on the node in the current state of the cluster; if not, adds
// kube-scheduler's reasons to `why`. REQUIRES: the class's groups are current (Cluster::Refresh).
bool PassesFilters(const PodClass& pod_class, const NodeInfo& node, Diagnosis& why);

// The same for one pod, which also leaves room for the pods that are nominated to the node and no less
// important: it must pass both with and without them.
bool PassesWithNominated(Cluster& cluster, const PodRecord& pod, NodeInfo& node, Diagnosis& why);

// The parts that also decide whether a change of a node is worth another attempt.
bool TaintsTolerated(const Requirements& wants, const NodeFacts& node);
// As if the node were empty.
bool FitsWhenEmpty(const Requirements& wants, const NodeFacts& node);

}  // namespace terrarium::kubelet_fake::scheduling
