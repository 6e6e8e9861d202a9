#pragma once

// Control endpoints that ask something of the kubelet.

#include <functional>
#include <utility>

#include "api/base/errors.h"
#include "testbed/components.h"
#include "testbed/control/endpoint.h"

namespace terrarium::testbed::control {

using KubeletQuestion = api::Result<Json> (*)(const KubeletControls& kubelet, const Call& asked);

// Asks on the kubelet's lane and answers from there.
inline void OnKubelet(Call call, KubeletQuestion question) {
  Components& components = call.control.plane().components();
  auto reply = call.reply;
  bool there = components.OnKubelet([call = std::move(call), question](const KubeletControls& kubelet) {
    call.reply(question(kubelet, call));
  });
  if (!there) reply(api::Conflict({"terrarium.dev", "components"}, "kubelet", "it does not run: --kubelet=false"));
}

}  // namespace terrarium::testbed::control
