#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace terrarium::apiserver {

// -1: none.
int HexDigit(char c);

// The parameters of a query string in their order, decoded; a name may come more than once.
std::vector<std::pair<std::string, std::string>> ParseQuery(std::string_view query);
// A path without its percent escapes; nullopt if one is malformed. A plus sign is not decoded.
std::optional<std::string> DecodePath(std::string_view path);

}  // namespace terrarium::apiserver
