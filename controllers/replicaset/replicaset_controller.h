#pragma once

// The ReplicaSet controller and the ReplicationController one (replicaset-controller,
// replicationcontroller-controller): one implementation for two kinds. They maintain the desired number of
// pods. Mirrors pkg/controller/replicaset and pkg/controller/replication, v1.36.

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeReplicaSetController(const ControllerContext& context);
std::unique_ptr<Controller> MakeReplicationController(const ControllerContext& context);

}  // namespace terrarium::controllers
