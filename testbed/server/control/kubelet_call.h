#pragma once

// Control endpoints that call the kubelet.

#include <functional>
#include <string_view>
#include <utility>

#include "api/base/errors.h"
#include "testbed/control_plane/components.h"
#include "testbed/server/control/endpoint.h"

namespace terrarium::testbed::control {

using KubeletQuestion = api::Result<Json> (*)(const KubeletControls& kubelet, const Call& asked);

// Calls `question` on the kubelet's lane and replies from there.
inline void OnKubelet(Call call, KubeletQuestion question) {
  auto not_running = [](std::string_view why) {
    return api::Conflict({"terrarium.dev", "components"}, component::kKubelet, why);
  };
  Components& components = call.control.control_plane().components();
  auto reply = call.reply;
  bool there =
      components.OnKubelet([call = std::move(call), question, not_running](const KubeletControls* kubelet) {
        call.reply(kubelet == nullptr ? not_running("it is not running") : question(*kubelet, call));
      });
  if (!there) reply(not_running("it does not run: --kubelet=false"));
}

}  // namespace terrarium::testbed::control
