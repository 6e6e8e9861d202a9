#include <map>
#include <string>
#include <utility>

#include "api/base/errors.h"
#include "testbed/control_plane/component_change.h"
#include "testbed/server/control/endpoint.h"

namespace terrarium::testbed::control {
namespace {

using Action = ComponentChange::Action;

void ListComponents(Call call) {
  Json list = Json::array();
  for (const ComponentInfo& info : call.control.control_plane().components().List())
    list.push_back(info.ToJson());
  call.reply(Json{{"components", std::move(list)}});
}

void GetComponent(Call call) {
  auto info = call.control.control_plane().components().Find(call.names[0]);
  if (!info) return call.reply(UnknownComponent(call.names[0]));
  call.reply(info->ToJson());
}

void GetGates(Call call) {
  auto info = call.control.control_plane().components().Find(call.names[0]);
  if (!info) return call.reply(UnknownComponent(call.names[0]));
  call.reply(std::move(info->ToJson()["featureGates"]));
}

void SetGates(Call call) {
  ComponentChange change{Action::kSetGates, {}};
  for (const auto& [name, value] : call.body.items()) {
    if (!value.is_boolean())
      return call.reply(api::BadRequest("feature gate " + name + " must be true or false"));
    change.gates.emplace(name, value.get<bool>());
  }
  if (change.gates.empty())
    return call.reply(api::BadRequest("name the gates that are to change: {\"GateName\": true}"));
  call.control.control_plane().components().Change(call.names[0], std::move(change),
                                                   [reply = call.reply](ChangeResult changed) {
                                                     if (!changed) return reply(changed.status());
                                                     reply(std::move(changed->ToJson()["featureGates"]));
                                                   });
}

template <Action action>
void Do(Call call) {
  call.control.control_plane().components().Change(call.names[0], {action, {}},
                                                   [reply = call.reply](ChangeResult changed) {
                                                     if (!changed) return reply(changed.status());
                                                     reply(changed->ToJson());
                                                   });
}

constexpr Endpoint kEndpoints[] = {
    {"GET", "/components",
     "apiserver, controller-manager, scheduler and kubelet: state, restarts and feature gates", "",
     ListComponents},
    {"GET", "/components/{name}", "one component: state, restarts and feature gates", "", GetComponent,
     "kubelet"},
    {"GET", "/components/{name}/feature-gates", "the feature gates of a component", "", GetGates,
     "apiserver"},
    {"PUT", "/components/{name}/feature-gates", "set feature gates, which restarts the component",
     R"({"JobPodReplacementPolicy": false})", SetGates, "controller-manager"},
    {"POST", "/components/{name}/stop", "stop a component; requests in flight are answered first", "",
     Do<Action::kStop>, "controller-manager"},
    {"POST", "/components/{name}/start", "start a stopped or crashed component", "", Do<Action::kStart>,
     "controller-manager"},
    {"POST", "/components/{name}/restart", "stop and start a component", "", Do<Action::kRestart>, "kubelet"},
    {"POST", "/components/{name}/crash", "end a component in the middle of its work", "", Do<Action::kCrash>,
     "controller-manager"},
};

}  // namespace

std::span<const Endpoint> ComponentEndpoints() { return kEndpoints; }

}  // namespace terrarium::testbed::control
