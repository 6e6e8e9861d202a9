#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "testbed/http_caller/http_caller.h"

namespace terrarium::testbed::internal {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
  std::string text;  // for people: 127.0.0.1:80, [::1]:80
};

// nullopt: `address` is no IP address.
std::optional<SocketAddress> ParseAddress(const std::string& address, std::uint16_t port);

// What the system knows about a name. Takes as long as it takes.
NameLookUp LookUpNow(const std::string& name);

}  // namespace terrarium::testbed::internal
