#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace terrarium::apiserver {

// The token of an Authorization header, read as Kubernetes does: the scheme in any case. nullopt if it has
// none.
std::optional<std::string> BearerToken(std::string_view header);

}  // namespace terrarium::apiserver
