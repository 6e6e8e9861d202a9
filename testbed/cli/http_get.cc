#include "testbed/cli/http_get.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "api/base/errors.h"

namespace terrarium::testbed {
namespace {

using api::Result;

constexpr long kTimeoutSeconds = 30;

struct Address {
  std::string host;
  std::string port = "80";
  std::string prefix;  // of paths, without a slash at its end
};

Result<Address> ParseUrl(const std::string& url) {
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme))
    return api::BadRequest(url + " is not http://HOST:PORT: only plain HTTP is spoken here; with TLS, use "
                                 "curl on /terrarium/v1/why");
  std::string_view rest = std::string_view(url).substr(kScheme.size());
  Address out;
  const std::size_t slash = rest.find('/');
  if (slash != std::string_view::npos) out.prefix = rest.substr(slash);
  while (out.prefix.ends_with('/')) out.prefix.pop_back();
  rest = rest.substr(0, slash);
  const std::size_t colon = rest.rfind(':');
  if (colon != std::string_view::npos && rest.find(']', colon) == std::string_view::npos) {
    out.port = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
  }
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  out.host = rest;
  if (out.host.empty() || out.port.empty()) return api::BadRequest(url + " names no server");
  return out;
}

// A connected socket that is closed in the end.
class Connection {
 public:
  explicit Connection(int fd) : fd_(fd) {}
  ~Connection() { close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool Send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // Everything up to the end of the connection; false when it breaks off.
  bool ReceiveAll(std::string& out) {
    char buffer[16384];
    while (true) {
      const ssize_t got = recv(fd_, buffer, sizeof buffer, 0);
      if (got == 0) return true;
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return false;
      out.append(buffer, static_cast<std::size_t>(got));
    }
  }

 private:
  int fd_;
};

Result<std::unique_ptr<Connection>> Connect(const Address& address, const std::string& url) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (int error = getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found); error != 0)
    return api::BadRequest("cannot reach " + url + ": " + gai_strerror(error));
  std::string why = "no address";
  int fd = -1;
  for (const addrinfo* each = found; each != nullptr && fd < 0; each = each->ai_next) {
    fd = socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC, each->ai_protocol);
    timeval timeout{kTimeoutSeconds, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    if (fd >= 0 && connect(fd, each->ai_addr, each->ai_addrlen) == 0) break;
    why = std::strerror(errno);
    if (fd >= 0) close(fd);
    fd = -1;
  }
  freeaddrinfo(found);
  if (fd < 0) return api::BadRequest("cannot reach " + url + ": " + why);
  return std::make_unique<Connection>(fd);
}

}  // namespace

Result<HttpAnswerText> HttpGet(const std::string& url, const std::string& path, const std::string& token) {
  auto address = ParseUrl(url);
  if (!address) return address.status();
  auto connection = Connect(*address, url);
  if (!connection) return connection.status();
  // With 1.0 and no wish to keep the connection, the answer is plain text up to its end.
  std::string request = "GET " + address->prefix + path + " HTTP/1.0\r\nHost: " + address->host + ":" + address->port +
                        "\r\nAccept: application/json\r\nConnection: close\r\n";
  if (!token.empty()) request += "Authorization: Bearer " + token + "\r\n";
  std::string answer;
  if (!(*connection)->Send(request + "\r\n") || !(*connection)->ReceiveAll(answer))
    return api::BadRequest("no answer from " + url + ": " + std::strerror(errno));
  const std::size_t head = answer.find("\r\n\r\n");
  const std::size_t space = answer.find(' ');
  if (!answer.starts_with("HTTP/") || head == std::string::npos || space > head)
    return api::BadRequest("what answers at " + url + " does not speak HTTP");
  return HttpAnswerText{std::atoi(answer.c_str() + space), answer.substr(head + 4)};
}

}  // namespace terrarium::testbed
