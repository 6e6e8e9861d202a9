#pragma once

#include <string>

#include "api/base/status.h"
#include "testbed/cli/kubeconfig.h"

namespace terrarium::testbed {

struct HttpAnswerText {
  int code = 0;
  std::string body;
};

// Sends a GET to `path` below the server's URL and waits for the response, of any status. Fails without a
// response.
api::Result<HttpAnswerText> HttpGet(const ServerAccess& server, const std::string& path);

}  // namespace terrarium::testbed
