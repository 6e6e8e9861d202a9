#pragma once

// The desired number of pods of a pod's controller.

#include <cstdint>
#include <optional>
#include <string>

#include "api/base/status.h"
#include "api/client.h"
#include "controllers/runtime/informer.h"
#include "controllers/runtime/owner_references.h"
#include "controllers/runtime/served_resource.h"

namespace terrarium::controllers::disruption {

struct ControllerScale {
  std::string uid;
  std::int64_t replicas = 0;
};

class ControllerScales {
 public:
  // All outlive this.
  ControllerScales(InformerSet& informers, api::Client& client, const ServedResources& resources);

  // nullopt: the controller does not exist. Fails with Kubernetes' message when its kind has no scale. For a
  // ReplicaSet of a Deployment returns the Deployment's scale, so that its ReplicaSets count once.
  api::Result<std::optional<ControllerScale>> Find(const OwnerReference& controller,
                                                   const std::string& ns) const;

 private:
  std::optional<ControllerScale> OfReplicaSet(const OwnerReference& controller, const std::string& ns) const;
  api::Result<std::optional<ControllerScale>> OfScalable(const OwnerReference& controller,
                                                         const std::string& ns) const;

  api::Client& client_;
  const ServedResources& resources_;
  const Informer& replication_controllers_;
  const Informer& replica_sets_;
  const Informer& deployments_;
  const Informer& stateful_sets_;
};

}  // namespace terrarium::controllers::disruption
