#pragma once

// The garbage collector (garbage-collector-controller): deletes objects without a remaining owner, completes
// foreground deletions, and orphans dependents on request. Mirrors pkg/controller/garbagecollector, v1.36.

#include <memory>

#include "controllers/controller.h"
#include "controllers/runtime/served_resource.h"

namespace terrarium::controllers {

// `resources`: everything served that can be listed, watched and deleted; outlives the controller. Events are
// left out, as in Kubernetes.
std::unique_ptr<Controller> MakeGarbageCollector(const ControllerContext& context,
                                                 ServedResources& resources);

}  // namespace terrarium::controllers
