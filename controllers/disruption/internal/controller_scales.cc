#include "controllers/disruption/internal/controller_scales.h"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"

namespace terrarium::controllers::disruption {
namespace {

using api::Result;

std::string_view GroupOf(std::string_view api_version) {
  std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

bool IsA(const OwnerReference& reference, std::string_view kind,
         std::initializer_list<std::string_view> groups) {
  return reference.kind == kind &&
         std::find(groups.begin(), groups.end(), GroupOf(reference.api_version)) != groups.end();
}

ControllerScale ScaleOf(const api::Object& object) {
  return {object.header().uid, api::IntAt(*object.Document(), 0, "spec", "replicas")};
}

// The object to which the reference points, by uid.
ObjectPtr Referred(const Informer& informer, const OwnerReference& reference, const std::string& ns) {
  ObjectPtr object = informer.Get({ns, reference.name});
  return object != nullptr && object->header().uid == reference.uid ? object : nullptr;
}

std::optional<ControllerScale> ScaleFrom(const Informer& informer, const OwnerReference& reference,
                                         const std::string& ns) {
  ObjectPtr object = Referred(informer, reference, ns);
  if (object == nullptr) return std::nullopt;
  return ScaleOf(*object);
}

}  // namespace

ControllerScales::ControllerScales(InformerSet& informers, api::Client& client,
                                   const ServedResources& resources)
    : client_(client),
      resources_(resources),
      replication_controllers_(informers.For("replicationcontrollers")),
      replica_sets_(informers.For("replicasets")),
      deployments_(informers.For("deployments")),
      stateful_sets_(informers.For("statefulsets")) {}

Result<std::optional<ControllerScale>> ControllerScales::Find(const OwnerReference& controller,
                                                              const std::string& ns) const {
  std::optional<ControllerScale> found;
  if (IsA(controller, "ReplicationController", {""}))
    found = ScaleFrom(replication_controllers_, controller, ns);
  if (IsA(controller, "ReplicaSet", {"apps", "extensions"})) found = OfReplicaSet(controller, ns);
  if (IsA(controller, "StatefulSet", {"apps"})) found = ScaleFrom(stateful_sets_, controller, ns);
  if (found) return found;
  return OfScalable(controller, ns);
}

std::optional<ControllerScale> ControllerScales::OfReplicaSet(const OwnerReference& controller,
                                                              const std::string& ns) const {
  ObjectPtr replica_set = Referred(replica_sets_, controller, ns);
  if (replica_set == nullptr) return std::nullopt;
  const OwnerReference* owner = replica_set->controller();
  if (owner == nullptr || owner->kind != "Deployment") return ScaleOf(*replica_set);
  if (!IsA(*owner, "Deployment", {"apps", "extensions"})) return std::nullopt;
  return ScaleFrom(deployments_, *owner, ns);
}

// Objects that no informer has are read from the apiserver.
Result<std::optional<ControllerScale>> ControllerScales::OfScalable(const OwnerReference& controller,
                                                                    const std::string& ns) const {
  const ServedResource* resource = resources_.Find(controller.api_version, controller.kind);
  if (resource == nullptr)
    return api::GenericServerError("no matches for kind \"" + controller.kind + "\" in version \"" +
                                   controller.api_version + "\"");
  if (!resource->scalable)
    return api::GenericServerError(api::GroupResource{resource->group, resource->resource}.String() +
                                   " does not implement the scale subresource");
  Result<ObjectPtr> object = client_.Get(resource->Name(), {ns, controller.name});
  if (!object && !object.status().Is(api::reason::kNotFound)) return object.status();
  if (!object || (*object)->header().uid != controller.uid) return std::optional<ControllerScale>();
  return std::optional(ScaleOf(**object));
}

}  // namespace terrarium::controllers::disruption
