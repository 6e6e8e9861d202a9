#pragma once

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

// taint-eviction-controller: deletes the pods of a node with a NoExecute taint, at once when they do not tolerate it
// and after their tolerationSeconds otherwise, and calls it off when the taint goes (mirrors
// pkg/controller/tainteviction, 1.36). A pod that waits for its deletion is work to come: the plane is not idle
// meanwhile. With the gate PodDisruptionConditions the pod's status says why it goes.
std::unique_ptr<Controller> MakeTaintEvictionController(const ControllerContext& context);

}  // namespace terrarium::controllers
