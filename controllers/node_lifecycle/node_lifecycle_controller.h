#pragma once

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

// node-lifecycle-controller: notices nodes that have fallen silent and says so in their conditions, on their
// pods and with taints (mirrors pkg/controller/nodelifecycle, 1.36). Every 5 s it looks at all nodes; who has
// renewed neither lease nor status for 50 s (60 s for one that never said anything) becomes Unknown. The
// NoExecute taints that evict pods are given at Kubernetes' pace: for each zone one node in 10 s, none while
// most of a small zone or all of the cluster is down, since then it is rather the observer that is cut off.
std::unique_ptr<Controller> MakeNodeLifecycleController(const ControllerContext& context);

}  // namespace terrarium::controllers
