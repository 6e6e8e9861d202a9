#pragma once

// The messages of Go's JSON decoder and time parser, which Kubernetes passes on to its clients unchanged.

#include <string>
#include <string_view>

#include "api/json.h"

namespace terrarium::api {

// "string", "number", "bool", "array", "object": how the decoder names a JSON value.
std::string GoKind(const Json& value);

// The text of a number, most likely as written in the document.
std::string GoNumber(const Json& value);

// strconv.Quote for printable text: quotes and backslashes escaped, control characters as \n or \x00.
std::string GoQuote(std::string_view text);

// The error of time.Parse with the layout of metav1.Time (or of metav1.MicroTime), or "" when the text is
// valid.
std::string GoTimeError(std::string_view text, bool micro);

}  // namespace terrarium::api
