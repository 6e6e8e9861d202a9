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
    {"GET", "/nodes", "the nodes that have failed", "", ListNodes},
    {"POST", "/nodes/{name}/fail", "make a node fail: it stops reporting, and so do its pods", "",
     Give<&NodeAgent::Fail>, "node-1"},
    {"POST", "/nodes/{name}/recover", "let a failed node recover: it is ready immediately", "",
     Give<&NodeAgent::Recover>, "node-1"},
};

}  // namespace

std::span<const Endpoint> NodeEndpoints() { return kEndpoints; }

}  // namespace terrarium::testbed::control
