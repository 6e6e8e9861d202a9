#pragma once

// What an HTTP adapter does between the wire and the handler, for a runner without one.

#include <optional>
#include <string>
#include <vector>

#include "apiserver/request.h"
#include "tests/wire/format.h"

namespace terrarium::wire {

// The request for a method, a target as it stands in a request line, headers and a body. Accept and
// Content-Type are JSON unless given.
apiserver::Request MakeRequest(const std::string& method, const std::string& target,
                               const std::vector<Header>& headers, std::optional<std::string> body);

// The value of an answer's header, joined by ", " when it comes more than once; empty when absent.
std::string AnswerHeader(const apiserver::Response& response, const std::string& name);

}  // namespace terrarium::wire
