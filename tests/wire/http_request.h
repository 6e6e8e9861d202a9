#pragma once

// The work of an HTTP adapter between the wire and the handler, for a runner without one.

#include <optional>
#include <string>
#include <vector>

#include "apiserver/request.h"
#include "tests/wire/format.h"

namespace terrarium::wire {

// The request for a method, a target as in a request line, headers and a body. Accept and Content-Type
// default to JSON.
apiserver::Request MakeRequest(const std::string& method, const std::string& target,
                               const std::vector<Header>& headers, std::optional<std::string> body);

// The value of a response header, joined by ", " if it is repeated; empty if absent.
std::string AnswerHeader(const apiserver::Response& response, const std::string& name);

}  // namespace terrarium::wire
