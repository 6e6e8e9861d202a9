#pragma once

#include <cstddef>
#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

struct PodGcOptions {
  // How many terminated pods may stay (--terminated-pod-gc-threshold); 0: no limit.
  std::size_t terminated_pod_threshold = 12500;
};

// pod-garbage-collector-controller: removes pods that no kubelet will ever remove (mirrors
// pkg/controller/podgc, 1.36). Every 20 s it removes ended pods above the threshold, oldest first;
// terminating pods without a node; and terminating pods that are not ready on nodes tainted out-of-service.
// It finds the pods of a deleted node immediately, and removes them after the node has been missing for 40 s;
// the control plane is not idle until then. With the gates PodDisruptionConditions or JobPodReplacementPolicy
// a pod that has not ended first gets the phase Failed. With PodDisruptionConditions an orphan also gets the
// DisruptionTarget condition.
std::unique_ptr<Controller> MakePodGarbageCollector(const ControllerContext& context);
std::unique_ptr<Controller> MakePodGarbageCollector(const ControllerContext& context, PodGcOptions options);

}  // namespace terrarium::controllers
