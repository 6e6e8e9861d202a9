#pragma once

// The ReplicaSet controller and the ReplicationController one (replicaset-controller,
// replicationcontroller-controller): one core, two kinds. They keep as many pods of a template as asked for.
// Mirrors pkg/controller/replicaset and pkg/controller/replication, v1.36.

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeReplicaSetController(const ControllerContext& context);
std::unique_ptr<Controller> MakeReplicationController(const ControllerContext& context);

}  // namespace terrarium::controllers
