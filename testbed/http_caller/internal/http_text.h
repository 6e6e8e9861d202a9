#pragma once

// The texts of HTTP: what may be a name, what a value, and the request itself.

#include <string>
#include <string_view>

#include "api/base/status.h"
#include "api/http_caller.h"

namespace terrarium::testbed::internal {

bool IsToken(std::string_view text);
// Without line ends and other control characters, which would begin something new.
bool IsFieldValue(std::string_view text);
bool EqualNoCase(std::string_view a, std::string_view b);

// The whole request. Fails, naming the header and not its value, when it cannot be sent as one.
api::Result<std::string> RequestText(const api::HttpCall& call);

}  // namespace terrarium::testbed::internal
