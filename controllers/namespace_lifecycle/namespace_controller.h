#pragma once

// The namespace controller (namespace-controller): deletes the content of a terminating namespace and then
// finalizes it. Mirrors pkg/controller/namespace, v1.36.

#include <memory>

#include "controllers/controller.h"
#include "controllers/runtime/served_resource.h"

namespace terrarium::controllers {

// `resources`: everything served that can be listed and deleted; outlives the controller. Cluster-scoped
// resources are skipped.
std::unique_ptr<Controller> MakeNamespaceController(const ControllerContext& context,
                                                    ServedResources& resources);

}  // namespace terrarium::controllers
