#pragma once

// How many pods a pod's controller wants.

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

  // nullopt: the controller is not there. Fails when its kind has no scale, in Kubernetes' words. A
  // ReplicaSet of a Deployment speaks for the Deployment, so that its old and new ReplicaSets count once.
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
