#pragma once

#include <optional>

#include "api/base/clock.h"
#include "api/json.h"

namespace terrarium::controllers {

// The NoExecute ones among a node's taints.
api::Json NoExecuteTaints(const api::Json& node);

// How long a pod with these tolerations stays on a node with these NoExecute taints: the shortest time of the
// tolerations it makes use of, none when one of the taints is not tolerated. nullopt: for ever.
std::optional<api::Duration> TolerationTime(const api::Json& tolerations, const api::Json& taints);

}  // namespace terrarium::controllers
