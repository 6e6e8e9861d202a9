#pragma once

#include <string>
#include <string_view>

namespace terrarium::apiserver::strategy {

// "" when the time zone can be loaded, or Go's error message. On a machine without a zone database every
// well-formed name is valid.
std::string TimeZoneError(std::string_view name);

// Letters, digits and . - _ + in parts of 1 to 14 characters between slashes; no part is ".", ".." or begins
// with "-".
bool IsTimeZoneName(std::string_view name);

}  // namespace terrarium::apiserver::strategy
