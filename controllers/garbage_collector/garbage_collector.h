#pragma once

// The garbage collector (garbage-collector-controller): deletes what has no owner left, empties owners that are deleted
// in the foreground, and orphans dependents where that was asked for. Mirrors pkg/controller/garbagecollector, v1.36.

#include <memory>
#include <vector>

#include "controllers/controller.h"
#include "controllers/runtime/served_resource.h"

namespace terrarium::controllers {

// `resources`: everything served that can be listed, watched and deleted. Events are left out, as in Kubernetes.
std::unique_ptr<Controller> MakeGarbageCollector(const ControllerContext& context,
                                                 std::vector<ServedResource> resources);

}  // namespace terrarium::controllers
