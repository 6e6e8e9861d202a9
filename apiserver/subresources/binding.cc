#include <string>
#include <utility>
#include <vector>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "apiserver/internal/body.h"
#include "apiserver/internal/etcd_words.h"
#include "apiserver/internal/options.h"
#include "apiserver/internal/respond.h"
#include "apiserver/internal/topology_labels.h"
#include "apiserver/internal/verbs.h"
#include "apiserver/internal/write_path.h"
#include "apiserver/subresources/internal/pod_conditions.h"

namespace terrarium::apiserver {
namespace {

using api::Path;
using api::Result;

const ResourceInfo& Pods() { return *ResourceTable::BuiltIn()->Find("", "v1", "pods"); }

// Kubernetes reports a bad binding as its own failure, a 500 with the words of a validation and no reason.
Result<void> ValidateBinding(const Json& binding) {
  std::vector<std::string> errors;
  auto add = [&](const api::FieldError& error) { errors.push_back(error.field + ": " + error.message); };
  std::string_view kind = api::StringAt(binding, "target", "kind");
  if (!kind.empty() && kind != "Node")
    add(api::NotSupportedError(Path("target.kind"), kind, {"Node", "<empty>"}));
  if (api::StringAt(binding, "target", "name").empty()) add(api::RequiredError(Path("target.name")));
  if (errors.empty()) return {};
  return api::GenericServerError(errors.size() == 1 ? errors[0] : "[" + errors[0] + ", " + errors[1] + "]");
}

api::Status BindingConflict(const std::string& pod, const std::string& why) {
  return api::Conflict({"", "pods/binding"}, pod, why);
}

// The uid and the revision of a Binding are preconditions on the pod.
Result<void> CheckBindingPreconditions(const Json& binding, const api::Object& pod) {
  const std::string uid(api::StringAt(binding, "metadata", "uid"));
  const std::string version(api::StringAt(binding, "metadata", "resourceVersion"));
  std::string why;
  if (!uid.empty() && uid != pod.header().uid)
    why = "UID in precondition: " + uid + ", UID in object meta: " + pod.header().uid;
  else if (!version.empty() && version != std::to_string(pod.revision()))
    why = "ResourceVersion in precondition: " + version +
          ", ResourceVersion in object meta: " + std::to_string(pod.revision());
  else
    return {};
  return api::Conflict(
      {"", "pods"}, pod.header().name,
      "StorageError: invalid object, Code: 4, Key: " + EtcdKey(Pods(), pod.header().ns, pod.header().name) +
          ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: " + why);
}

// The pod with its node set, or why it cannot have one.
Result<Change> Bind(const std::string& name, const Json& binding, const api::Object& current, const Json& pod,
                    api::Time now) {
  if (auto fine = CheckBindingPreconditions(binding, current); !fine) return fine.status();
  if (api::Find(pod, "metadata", "deletionTimestamp") != nullptr)
    return BindingConflict(name, "pod " + name + " is being deleted, cannot be assigned to a host");
  std::string node(api::StringAt(pod, "spec", "nodeName"));
  if (!node.empty())
    return BindingConflict(name, "pod " + name + " is already assigned to node " + api::Quote(node));
  if (!api::ListAt(pod, "spec", "schedulingGates").empty())
    return BindingConflict(name, "pod " + name + " has non-empty .spec.schedulingGates");
  Json bound = pod;
  bound["spec"]["nodeName"] = api::StringAt(binding, "target", "name");
  // Binding clears nominatedNodeName.
  if (api::Find(bound, "status", "nominatedNodeName") != nullptr) bound["status"].erase("nominatedNodeName");
  for (const char* field : {"annotations", "labels"})
    for (const auto& [key, value] : api::ObjectAt(binding, "metadata", field).items())
      bound["metadata"][field][key] = value;
  SetPodConditionTrue(bound, {.type = "PodScheduled", .reason = "", .message = ""}, now);
  return Change{Change::Action::kWrite, std::move(bound)};
}

}  // namespace

void ServeBinding(const CallPtr& call) {
  auto options = ParseWriteOptions(call->request, "CreateOptions");
  if (!options) return RespondError(call, options.status());
  const ResourceTable& table = *ResourceTable::BuiltIn();
  auto binding = DecodeBody(*call, BodyKindOf(*table.Find("", "v1", "bindings")), options->field_validation);
  if (!binding) return RespondError(call, binding.status());
  std::string name(api::StringAt(*binding, "metadata", "name"));
  if (!call->route.name.empty() && name != call->route.name)
    return RespondError(call, api::BadRequest("name in URL does not match name in Binding object"));
  // A Binding created through the older resource has no uid yet; the one in the body is ignored.
  if (call->route.subresource == nullptr) (*binding)["metadata"].erase("uid");
  if (auto fine = ValidateBinding(*binding); !fine) return RespondError(call, fine.status());
  // As in Kubernetes, the plugin handles only the subresource, and only a target of kind Node.
  if (call->route.subresource != nullptr && api::StringAt(*binding, "target", "kind") == "Node")
    CopyTopologyLabels(call->server, api::StringAt(*binding, "target", "name"), (*binding)["metadata"]);
  ChangeTarget target{Pods(), {"pods", call->route.ns, name}, options->dry_run};
  ChangeObject(
      call, target,
      [call, name, binding = std::move(*binding)](const api::ObjectPtr& current, const Json& pod) {
        return Bind(name, binding, *current, pod, call->server.env.clock.Now());
      },
      [call](Result<Changed> changed) {
        if (!changed) return RespondError(call, changed.status());
        RespondSuccess(call, 201, Json());
      });
}

}  // namespace terrarium::apiserver
