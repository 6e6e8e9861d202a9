#pragma once

// Metrics of pods and nodes (metrics.k8s.io), computed from what the kubelet measures when they are read.

#include <string_view>

#include "api/base/status.h"
#include "api/object.h"
#include "api/object_name.h"
#include "apiserver/internal/call.h"

namespace terrarium::apiserver {

// For callers in the same process. `resource` is pods.metrics.k8s.io or nodes.metrics.k8s.io. 404 as
// metrics-server reports it when the pod or node does not exist, or has no metrics.
api::Result<api::ObjectPtr> ComputeMetrics(const Server& server, std::string_view resource,
                                           const api::ObjectName& name);

}  // namespace terrarium::apiserver
