#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/http_caller.h"

namespace terrarium::testbed::internal {

bool EqualNoCase(std::string_view a, std::string_view b);

// The header lines of a request in the form that libcurl takes. Fails when a part of the request cannot be
// sent; the message names a header, never its value.
api::Result<std::vector<std::string>> RequestHeaders(const api::HttpCall& call);

}  // namespace terrarium::testbed::internal
