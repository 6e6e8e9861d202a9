#pragma once

#include <cstddef>
#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

struct PodGcOptions {
  // How many pods that have run to their end may stay (--terminated-pod-gc-threshold); 0: all of them.
  std::size_t terminated_pod_threshold = 12500;
};

// pod-garbage-collector-controller: removes pods that no kubelet will ever remove (mirrors pkg/controller/podgc, 1.36).
// Every 20 s: ended pods above the threshold, oldest first; terminating pods without a node; terminating pods on nodes
// tainted out-of-service that are not ready. Pods of a node that is gone are found at once, and removed after the node
// has been missing for 40 s: the plane is not idle until then. Before a pod goes, its phase becomes Failed, with the
// gates PodDisruptionConditions (an orphan then also gets the DisruptionTarget condition) or JobPodReplacementPolicy.
std::unique_ptr<Controller> MakePodGarbageCollector(const ControllerContext& context);
std::unique_ptr<Controller> MakePodGarbageCollector(const ControllerContext& context, PodGcOptions options);

}  // namespace terrarium::controllers
