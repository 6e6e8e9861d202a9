#include "apiserver/resources/built_in_resources.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "apiserver/resources/internal/row.h"

namespace terrarium::apiserver {

std::vector<ResourcePtr> BuiltInResources() {
  // Groups in the order in which Kubernetes ranks them, versions of a group newest first, and inside a
  // version by resource name, as discovery lists them.
  resources::Resources (*const groups[])() = {resources::Core,
                                              resources::Apps,
                                              resources::Events,
                                              resources::Authentication,
                                              resources::Authorization,
                                              resources::Autoscaling,
                                              resources::Batch,
                                              resources::Certificates,
                                              resources::Networking,
                                              resources::Policy,
                                              resources::Rbac,
                                              resources::Storage,
                                              resources::AdmissionRegistration,
                                              resources::Scheduling,
                                              resources::Coordination,
                                              resources::NodeGroup,
                                              resources::Discovery,
                                              resources::DynamicAllocation,
                                              resources::FlowControl,
                                              resources::Metrics};
  std::vector<ResourcePtr> out;
  for (auto group : groups) {
    for (ResourceInfo& resource : group()) {
      auto owner = std::find_if(out.begin(), out.end(), [&](const ResourcePtr& other) {
        return !resource.storage.empty() && other->storage == resource.storage;
      });
      if (owner != out.end()) resource.stored_as = *owner;
      resource.serial = NextResourceSerial();
      out.push_back(std::make_shared<const ResourceInfo>(std::move(resource)));
    }
  }
  return out;
}

}  // namespace terrarium::apiserver
