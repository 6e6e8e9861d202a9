#include <utility>

#include "testbed/server/control/kubelet_call.h"

namespace terrarium::testbed::control {
namespace {

using kubelet_fake::NodeAgent;

void ListNodes(Call call) {
  OnKubelet(std::move(call), [](const KubeletControls& kubelet, const Call&) -> api::Result<Json> {
    return Json{{"failed", kubelet.nodes.FailedNodes()}};
  });
}

template <api::Result<api::Change> (NodeAgent::*order)(std::string_view)>
void Give(Call call) {
  OnKubelet(std::move(call), [](const KubeletControls& kubelet, const Call& asked) -> api::Result<Json> {
    auto changed = (kubelet.nodes.*order)(asked.names[0]);
    if (!changed) return changed.status();
    return Json{{"node", asked.names[0]},
                {"up", kubelet.nodes.IsUp(asked.names[0])},
                {"changed", *changed == api::Change::kChanged}};
  });
}

constexpr Endpoint kEndpoints[] = {
    {"GET", "/nodes", "the nodes that have been taken away", "", ListNodes},
    {"POST", "/nodes/{name}/fail", "take a node away: it stops reporting and its pods stand still", "",
     Give<&NodeAgent::Fail>, "node-1"},
    {"POST", "/nodes/{name}/recover", "bring a node back", "", Give<&NodeAgent::Recover>, "node-1"},
};

}  // namespace

std::span<const Endpoint> NodeEndpoints() { return kEndpoints; }

}  // namespace terrarium::testbed::control
