#include "apiserver/http/listen_check.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/base/errors.h"

namespace terrarium::apiserver {
namespace {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

bool Parse(const std::string& address, std::uint16_t port, SocketAddress* out) {
  auto* v4 = reinterpret_cast<sockaddr_in*>(&out->storage);
  if (inet_pton(AF_INET, address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    out->length = sizeof(sockaddr_in);
    return true;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&out->storage);
  if (inet_pton(AF_INET6, address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    out->length = sizeof(sockaddr_in6);
    return true;
  }
  return false;
}

std::uint16_t PortOf(const sockaddr_storage& storage) {
  if (storage.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
  return ntohs(reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port);
}

}  // namespace

api::Result<std::uint16_t> CheckListen(const std::string& address, std::uint16_t port) {
  SocketAddress target;
  if (!Parse(address, port, &target)) return api::BadRequest("not an IP address: " + address);
  int fd = socket(target.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return api::BadRequest("cannot open a socket: " + std::string(std::strerror(errno)));
  int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  bool bound =
      bind(fd, reinterpret_cast<sockaddr*>(&target.storage), target.length) == 0 && listen(fd, 1) == 0;
  int error = errno;
  SocketAddress actual;
  actual.length = sizeof actual.storage;
  if (bound) getsockname(fd, reinterpret_cast<sockaddr*>(&actual.storage), &actual.length);
  close(fd);
  if (!bound)
    return api::BadRequest("cannot listen on " + address + ":" + std::to_string(port) + ": " +
                           std::strerror(error));
  return PortOf(actual.storage);
}

bool CanConnect(const std::string& address, std::uint16_t port) {
  SocketAddress target;
  // A wildcard address is reached through loopback.
  std::string reachable = address == "0.0.0.0" ? "127.0.0.1" : address == "::" ? "::1" : address;
  if (!Parse(reachable, port, &target)) return false;
  int fd = socket(target.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  bool connected = connect(fd, reinterpret_cast<sockaddr*>(&target.storage), target.length) == 0;
  close(fd);
  return connected;
}

api::Result<void> CheckReadable(const std::string& file) {
  if (file.empty()) return {};
  errno = 0;
  std::ifstream in(file);
  if (in.good() && in.peek() != std::ifstream::traits_type::eof()) return {};
  return api::BadRequest("cannot read " + file + ": " + (errno != 0 ? std::strerror(errno) : "empty file"));
}

bool IsLoopback(const std::string& address) { return address.starts_with("127.") || address == "::1"; }

}  // namespace terrarium::apiserver
