#include <utility>

#include "testbed/control_plane/call_targets.h"
#include "testbed/server/control/endpoint.h"

namespace terrarium::testbed::control {
namespace {

void ListAddresses(Call call) { call.reply(call.control.control_plane().call_targets().List()); }

void PutAddress(Call call) {
  call.reply(call.control.control_plane().call_targets().Register({call.names[0], call.names[1]}, call.body));
}

void RemoveAddress(Call call) {
  call.reply(call.control.control_plane().call_targets().Unregister({call.names[0], call.names[1]}));
}

constexpr Endpoint kEndpoints[] = {
    {"GET", "/services", "the Services for which an address is registered", "", ListAddresses},
    {"PUT", "/services/{namespace}/{name}/address",
     "register the address at which the cluster calls a Service; a port can have one of its own",
     R"({"address": "127.0.0.1:9000", "ports": {"https": 9443}})", PutAddress, "default/picker"},
    {"DELETE", "/services/{namespace}/{name}/address", "remove the address of a Service", "", RemoveAddress,
     "default/picker"},
};

}  // namespace

std::span<const Endpoint> ServiceEndpoints() { return kEndpoints; }

}  // namespace terrarium::testbed::control
