#include "api/base/errors.h"
#include "api/base/feature_gates.h"
#include "testbed/components.h"
#include "testbed/control/endpoint.h"

namespace terrarium::testbed::control {
namespace {

void GetGates(Call call) {
  const std::string& component = call.names[0];
  const api::FeatureGates* gates = component == "apiserver" ? &call.control.plane().env().gates
                                                            : call.control.plane().components().GatesOf(component);
  if (gates == nullptr)
    return call.reply(api::NotFound({"terrarium.dev", "components"}, component));
  Json values = Json::object();
  for (const auto& [name, on] : gates->values()) values[name] = on;
  call.reply(std::move(values));
}

// Forgets the history of all objects, so that watches and lists of older revisions get 410 Expired.
void CompactStore(Call call) {
  storage::Store& store = call.control.plane().store();
  store.Compact(store.CurrentRevision());
  call.reply(Json{{"compactedRevision", store.CompactedRevision()}});
}

constexpr Endpoint kEndpoints[] = {
    {"GET", "/components/{name}/feature-gates",
     "the feature gates of apiserver, controller-manager, scheduler or kubelet", "", GetGates, "apiserver"},
    {"POST", "/store/compact", "forget the history: older revisions are answered with 410", "", CompactStore},
};

}  // namespace

std::span<const Endpoint> PlaneEndpoints() { return kEndpoints; }

}  // namespace terrarium::testbed::control
