#pragma once

// The workload that an autoscaler scales: any served kind with a scale subresource.

#include <string>

#include "api/base/status.h"
#include "api/client.h"
#include "controllers/horizontal_pod_autoscaler/internal/autoscaler_spec.h"
#include "controllers/runtime/served_resource.h"

namespace terrarium::controllers::autoscaler {

struct ScaleTarget {
  std::string resource = {};  // its name in api::Client
  api::ObjectName name = {};
  std::string resource_version = {};
  int replicas = 0;           // spec.replicas
  std::string selector = {};  // of its pods, as text; empty: none
};

// Reads the scale. Fails with the message of Kubernetes' scale client. `bad_reference` is set when the
// reference itself is malformed.
api::Result<ScaleTarget> ReadScale(api::Client& client, const ServedResources& resources,
                                   const std::string& ns, const TargetReference& reference,
                                   bool* bad_reference);
// The same scale, read again.
api::Result<ScaleTarget> ReadScaleAgain(api::Client& client, const ScaleTarget& target);
// The body of an update of the scale subresource.
Json ScaleDocument(const ScaleTarget& target, int replicas);

}  // namespace terrarium::controllers::autoscaler
