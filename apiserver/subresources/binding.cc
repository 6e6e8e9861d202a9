#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "apiserver/internal/body.h"
#include "apiserver/internal/options.h"
#include "apiserver/internal/pod_conditions.h"
#include "apiserver/internal/respond.h"
#include "apiserver/internal/verbs.h"
#include "apiserver/internal/write_path.h"

namespace terrarium::apiserver {
namespace {

using api::Path;
using api::Result;

const ResourceInfo& Pods() { return *ResourceTable::Get().Find("", "v1", "pods"); }

FieldErrors ValidateBinding(const Json& binding) {
  FieldErrors errors;
  std::string_view kind = api::StringAt(binding, "target", "kind");
  if (!kind.empty() && kind != "Node")
    errors.push_back(api::NotSupportedError(Path("target.kind"), kind, {"Node", "<empty>"}));
  if (api::StringAt(binding, "target", "name").empty()) errors.push_back(api::RequiredError(Path("target.name")));
  return errors;
}

api::Status BindingConflict(const std::string& pod, const std::string& why) {
  return api::Conflict({"", "pods/binding"}, pod, why);
}

// The pod with its node set, or why it cannot have one.
Result<Change> Bind(const std::string& name, const Json& binding, const Json& pod, api::Time now) {
  std::string uid(api::StringAt(binding, "metadata", "uid"));
  if (!uid.empty() && uid != api::StringAt(pod, "metadata", "uid"))
    return BindingConflict(name, "Precondition failed: UID in precondition: " + uid + ", UID in object meta: " +
                                     std::string(api::StringAt(pod, "metadata", "uid")));
  if (api::Find(pod, "metadata", "deletionTimestamp") != nullptr)
    return BindingConflict(name, "pod " + name + " is being deleted, cannot be assigned to a host");
  std::string node(api::StringAt(pod, "spec", "nodeName"));
  if (!node.empty())
    return BindingConflict(name, "pod " + name + " is already assigned to node " + api::Quote(node));
  if (!api::ListAt(pod, "spec", "schedulingGates").empty())
    return BindingConflict(name, "pod " + name + " has non-empty .spec.schedulingGates");
  Json bound = pod;
  bound["spec"]["nodeName"] = api::StringAt(binding, "target", "name");
  for (const auto& [key, value] : api::ObjectAt(binding, "metadata", "annotations").items())
    bound["metadata"]["annotations"][key] = value;
  SetPodConditionTrue(bound, {.type = "PodScheduled", .reason = "", .message = ""}, now);
  return Change{Change::Action::kWrite, std::move(bound)};
}

}  // namespace

void ServeBinding(const CallPtr& call) {
  auto options = ParseWriteOptions(call->request, "CreateOptions");
  if (!options) return RespondError(call, options.status());
  const ResourceTable& table = ResourceTable::Get();
  auto binding = DecodeBody(*call, BodyKindOf(*table.Find("", "v1", "bindings")), options->field_validation);
  if (!binding) return RespondError(call, binding.status());
  std::string name(api::StringAt(*binding, "metadata", "name"));
  if (!call->route.name.empty() && name != call->route.name)
    return RespondError(call, api::BadRequest("name in URL does not match name in Binding object"));
  // DIVERGES: Kubernetes reports a bad binding as its own failure, a 500 with the same words and no reason.
  if (FieldErrors errors = ValidateBinding(*binding); !errors.empty())
    return RespondError(call, api::Invalid({"", "Binding"}, name, errors));
  ChangeTarget target{Pods(), {"pods", call->route.ns, name}, options->dry_run};
  ChangeObject(
      call, target,
      [call, name, binding = std::move(*binding)](const api::ObjectPtr&, const Json& pod) {
        return Bind(name, binding, pod, call->server.env.clock.Now());
      },
      [call](Result<Changed> changed) {
        if (!changed) return RespondError(call, changed.status());
        RespondSuccess(call, 201, Json());
      });
}

}  // namespace terrarium::apiserver
