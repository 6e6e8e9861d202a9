#include "testbed/http_caller/internal/socket_address.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <cstring>
#include <memory>

namespace terrarium::testbed::internal {

std::optional<SocketAddress> ParseAddress(const std::string& address, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return std::nullopt;
  SocketAddress out;
  std::memcpy(&out.storage, found->ai_addr, found->ai_addrlen);
  out.length = found->ai_addrlen;
  out.text = (found->ai_family == AF_INET6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
  freeaddrinfo(found);
  return out;
}

NameLookUp LookUpNow(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  int error = getaddrinfo(name.c_str(), nullptr, &hints, &found);
  if (error != 0) return {{}, gai_strerror(error)};
  std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, freeaddrinfo);
  NameLookUp out;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    char text[NI_MAXHOST];
    if (getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0)
      out.addresses.emplace_back(text);
  }
  if (out.addresses.empty()) out.error = "no addresses";
  return out;
}

}  // namespace terrarium::testbed::internal
