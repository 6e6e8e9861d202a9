#pragma once

#include <cstdint>
#include <string>

#include "api/base/status.h"

namespace terrarium::testbed {

struct HttpUrl {
  bool tls = false;
  std::string host;  // an IPv6 address without its brackets
  std::uint16_t port = 0;
  std::string path;  // without a slash at its end

  std::string Authority() const;  // HOST:PORT
};

// Of http://HOST[:PORT][/PATH] or https://...; fails for every other URL.
api::Result<HttpUrl> ParseHttpUrl(const std::string& url);

}  // namespace terrarium::testbed
