#pragma once

#include <string>
#include <string_view>

namespace terrarium::apiserver::strategy {

// "" when the time zone of that name can be loaded, or Go's words for why not. Where the machine has no zone
// database, every name of the right form is taken.
std::string TimeZoneError(std::string_view name);

// Letters, digits and . - _ + in parts of 1 to 14 characters between slashes; no part is ".", ".." or begins
// with "-".
bool IsTimeZoneName(std::string_view name);

}  // namespace terrarium::apiserver::strategy
