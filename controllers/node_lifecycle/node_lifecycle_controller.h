#pragma once

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

// node-lifecycle-controller: marks nodes without heartbeats in their conditions, in the conditions of their
// pods and with taints (mirrors pkg/controller/nodelifecycle, 1.36). It checks all nodes every 5 s; a node
// that has renewed neither lease nor status for 50 s (60 s if it never reported) becomes Unknown. NoExecute
// taints, which evict pods, are added at Kubernetes' rate: one node in 10 s for each zone, none while most of
// a small zone or all of the cluster is down, because then the controller itself is probably disconnected.
std::unique_ptr<Controller> MakeNodeLifecycleController(const ControllerContext& context);

}  // namespace terrarium::controllers
