#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/json.h"

namespace terrarium::api {

// The value of a plain scalar by the rules of YAML 1.1 as go-yaml v2 has them. A text that means nothing else
// is a string; so is a timestamp. nullopt for the numbers that JSON cannot hold (.inf, .nan).
std::optional<Json> ResolveYamlScalar(std::string_view text);

// The text that a mapping key becomes in JSON; nullopt when it cannot be one (null, a list, a map).
std::optional<std::string> YamlKey(const Json& key);

}  // namespace terrarium::api
