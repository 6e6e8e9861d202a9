#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "apiserver/admission/internal/plugins.h"
#include "apiserver/internal/admission.h"

namespace terrarium::apiserver {
namespace admission {
namespace {

api::Result<void> AdmitNothing(const Call& /*call*/, Json& /*object*/) { return {}; }
api::Result<void> CheckNothing(const Call& /*call*/, const Json& /*object*/, const Json* /*old*/) {
  return {};
}

constexpr Plugin kChain[] = {
    {SetContainerDefaults, CheckLimitRanges}, {ResolvePriority, CheckPriorityClass},
    {SetDefaultStorageClass, CheckNothing},   {AddProtectionFinalizer, CheckNothing},
    {AdmitNothing, CheckClaimExpansion},
};

}  // namespace

api::Status Refusal(const Call& call, const Json& object, const std::string& why) {
  std::string_view name = api::StringAt(object, "metadata", "name");
  if (name.empty()) name = api::StringAt(object, "metadata", "generateName");
  return api::Forbidden(call.resource().Resource(), name.empty() ? "Unknown" : name, why);
}

std::vector<api::ObjectPtr> StoredObjects(const Call& call, const char* resource, const std::string& ns) {
  if (call.server.store.Count(resource) == 0) return {};
  auto listing = call.server.store.List({.resource = resource, .ns = ns});
  return listing ? std::move(listing->items) : std::vector<api::ObjectPtr>{};
}

}  // namespace admission

api::Result<void> AdmitNew(const Call& call, Json& object) {
  for (const admission::Plugin& plugin : admission::kChain)
    if (auto admitted = plugin.admit(call, object); !admitted) return admitted.status();
  return {};
}

api::Result<void> CheckAdmission(const Call& call, const Json& object, const Json* old) {
  for (const admission::Plugin& plugin : admission::kChain)
    if (auto checked = plugin.check(call, object, old); !checked) return checked.status();
  return {};
}

}  // namespace terrarium::apiserver
