#include <algorithm>
#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "apiserver/admission/admission_plugins.h"
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
    {"LimitRanger", SetContainerDefaults, CheckLimitRanges},
    {kServiceAccountPlugin, SetServiceAccount, CheckServiceAccount},
    {"Priority", ResolvePriority, CheckPriorityClass},
    {"DefaultStorageClass", SetDefaultStorageClass, CheckNothing},
    {"StorageObjectInUseProtection", AddProtectionFinalizer, CheckNothing},
    {"PersistentVolumeClaimResize", AdmitNothing, CheckClaimExpansion},
};

bool IsOn(const Call& call, const Plugin& plugin) {
  return !call.server.options.disabled_admission.contains(plugin.name);
}

std::string ChainNames() {
  std::string names;
  for (const Plugin& plugin : kChain) names.append(names.empty() ? "" : ", ").append(plugin.name);
  return names;
}

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
  for (const admission::Plugin& plugin : admission::kChain) {
    if (!admission::IsOn(call, plugin)) continue;
    if (auto admitted = plugin.admit(call, object); !admitted) return admitted.status();
  }
  return {};
}

api::Result<void> CheckAdmission(const Call& call, const Json& object, const Json* old) {
  for (const admission::Plugin& plugin : admission::kChain) {
    if (!admission::IsOn(call, plugin)) continue;
    if (auto checked = plugin.check(call, object, old); !checked) return checked.status();
  }
  return {};
}

api::Result<AdmissionPluginSet> ParseAdmissionPlugins(std::string_view list) {
  AdmissionPluginSet names;
  while (!list.empty()) {
    const std::string_view name = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), name.size() + 1));
    if (std::none_of(std::begin(admission::kChain), std::end(admission::kChain),
                     [&](const admission::Plugin& plugin) { return plugin.name == name; }))
      return api::BadRequest(api::Quote(name) +
                             " is not one of the plugins that can be switched: " + admission::ChainNames());
    names.emplace(name);
  }
  return names;
}

}  // namespace terrarium::apiserver
