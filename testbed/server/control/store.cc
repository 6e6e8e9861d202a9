#include "testbed/server/control/endpoint.h"

namespace terrarium::testbed::control {
namespace {

// Forgets the history of all objects, so that watches and lists of older revisions get 410 Expired.
void CompactStore(Call call) {
  storage::Store& store = call.control.control_plane().store();
  store.Compact(store.CurrentRevision());
  call.reply(Json{{"compactedRevision", store.CompactedRevision()}});
}

constexpr Endpoint kEndpoints[] = {
    {"POST", "/store/compact", "remove the history: older revisions get 410", "", CompactStore},
};

}  // namespace

std::span<const Endpoint> StoreEndpoints() { return kEndpoints; }

}  // namespace terrarium::testbed::control
