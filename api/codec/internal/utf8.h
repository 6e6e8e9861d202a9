#pragma once

#include <string>
#include <string_view>

namespace terrarium::api {

// The text with every byte that is not part of valid UTF-8 replaced by U+FFFD, as Go's JSON encoder does.
// Documents hold valid UTF-8 only, because they could not be written as JSON otherwise.
std::string ValidUtf8(std::string_view text);

}  // namespace terrarium::api
