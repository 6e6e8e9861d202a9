#pragma once

#include <string>
#include <string_view>

namespace terrarium::api {

// Why `text` is not JSON, in the words of Go's scanner: "unexpected end of JSON input", "invalid character
// 'x' looking for beginning of value". Scans the whole text, so it is for the error path only.
std::string GoSyntaxError(std::string_view text);

}  // namespace terrarium::api
