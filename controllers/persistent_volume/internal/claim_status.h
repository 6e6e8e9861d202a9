#pragma once

// The status of a claim, as the binder sets it.

#include <optional>
#include <string_view>

#include "api/json.h"

namespace terrarium::controllers::persistent_volume {

// The status of the claim with the phase and, unless `volume` is null, with the size, access modes and
// attributes class of its volume. The size and the class are taken when the claim becomes bound: later they
// are those of the resizer. nullopt: it has that status already.
std::optional<api::Json> NextClaimStatus(const api::Json& claim, std::string_view phase,
                                         const api::Json* volume);

}  // namespace terrarium::controllers::persistent_volume
