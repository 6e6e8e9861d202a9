#pragma once

#include <string>

#include "api/base/status.h"

namespace terrarium::testbed {

struct HttpAnswerText {
  int code = 0;
  std::string body;
};

// Asks a server, and waits for its answer. `url` is http://HOST[:PORT][/PATH]; the request goes to `path` below that.
// `token` is sent as a bearer's when there is one. Plain HTTP only: it is for servers on this machine.
api::Result<HttpAnswerText> HttpGet(const std::string& url, const std::string& path, const std::string& token);

}  // namespace terrarium::testbed
