#include "apiserver/internal/update.h"

#include <charconv>
#include <string>
#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"

namespace terrarium::apiserver {

using api::Json;
using api::Path;
using api::Result;

Result<void> CheckNames(const Call& call, const Json& object) {
  std::string name(api::StringAt(object, "metadata", "name"));
  if (name.empty())
    return api::BadRequest("the name of the object (" + call.route.name +
                           " based on URL) was undeterminable: name must be provided");
  if (name != call.route.name)
    return api::BadRequest("the name of the object (" + name + ") does not match the name on the URL (" +
                           call.route.name + ")");
  std::string ns(api::StringAt(object, "metadata", "namespace"));
  if (!ns.empty() && ns != call.route.ns)
    return api::BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  return {};
}

Result<void> CheckVersion(const Call& call, const Json& object, const api::Object& current) {
  std::string version(api::StringAt(object, "metadata", "resourceVersion"));
  if (version.empty() || version == "0") {
    if (call.strategy().AllowUnconditionalUpdate()) return {};
    // Kubernetes names the resource in this error; other Invalid errors name the kind.
    return api::Invalid(
        {std::string(call.resource().group), std::string(call.resource().plural)}, call.route.name,
        {api::InvalidError(Path("metadata.resourceVersion"), 0, "must be specified for an update")});
  }
  std::int64_t asked = 0;
  auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), asked);
  if (error != std::errc() || end != version.data() + version.size() || asked < 0)
    return api::GenericServerError("strconv.ParseUint: parsing " + api::Quote(version) + ": invalid syntax");
  if (asked != current.revision()) return api::ModifiedConflict(call.resource().Resource(), call.route.name);
  return {};
}

Result<Change> Replace(Call& call, Json object, const Json& old, const OwnersRule& owners) {
  auto prepared = PrepareReplacement(call, std::move(object), old, owners);
  if (!prepared) return prepared.status();
  // The object is being deleted, and this update removes its last finalizer or ends its grace period: delete
  // it.
  bool gone = IsReadyToGo(call.resource(), prepared->document) && !IsReadyToGo(call.resource(), old);
  return Change{gone ? Change::Action::kDelete : Change::Action::kWrite, std::move(prepared->document),
                std::move(prepared->owners)};
}

}  // namespace terrarium::apiserver
