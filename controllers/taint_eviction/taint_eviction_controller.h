#pragma once

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

// taint-eviction-controller: deletes the pods of a node with a NoExecute taint (mirrors
// pkg/controller/tainteviction, 1.36). It immediately deletes pods that do not tolerate the taint, and
// deletes the others after their tolerationSeconds; removing the taint cancels the deletion. A pending
// deletion is work: the control plane is not idle until it is done. With the gate PodDisruptionConditions the
// pod's status states the reason.
std::unique_ptr<Controller> MakeTaintEvictionController(const ControllerContext& context);

}  // namespace terrarium::controllers
