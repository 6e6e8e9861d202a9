#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace terrarium::apiserver {

// The parameters of a query string in their order, decoded; a name may come more than once.
std::vector<std::pair<std::string, std::string>> ParseQuery(std::string_view query);

}  // namespace terrarium::apiserver
