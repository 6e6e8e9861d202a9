#pragma once

#include <optional>

#include "api/base/clock.h"
#include "api/json.h"

namespace terrarium::controllers {

// The NoExecute taints of a node.
api::Json NoExecuteTaints(const api::Json& node);

// How long a pod with these tolerations stays on a node with these NoExecute taints: the shortest
// tolerationSeconds of the tolerations that match; zero when a taint is not tolerated. nullopt: indefinitely.
std::optional<api::Duration> TolerationTime(const api::Json& tolerations, const api::Json& taints);

}  // namespace terrarium::controllers
