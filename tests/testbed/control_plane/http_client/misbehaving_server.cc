#include "tests/testbed/control_plane/http_client/misbehaving_server.h"

#include <algorithm>
#include <csignal>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/base/check.h"

namespace terrarium::testbed {
namespace {

constexpr int kDripPauseMs = 20;

struct Bound {
  int fd;
  std::uint16_t port;
};

Bound Bind(const std::string& address) {
  sockaddr_storage storage{};
  bool v6 = address.find(':') != std::string::npos;
  socklen_t length = v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  storage.ss_family = v6 ? AF_INET6 : AF_INET;
  void* bytes = v6 ? static_cast<void*>(&reinterpret_cast<sockaddr_in6&>(storage).sin6_addr)
                   : static_cast<void*>(&reinterpret_cast<sockaddr_in&>(storage).sin_addr);
  CHECK(inet_pton(storage.ss_family, address.c_str(), bytes) == 1);
  int fd = socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(fd >= 0);
  CHECK(bind(fd, reinterpret_cast<sockaddr*>(&storage), length) == 0);
  CHECK(getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length) == 0);
  return {fd, ntohs(v6 ? reinterpret_cast<sockaddr_in6&>(storage).sin6_port
                       : reinterpret_cast<sockaddr_in&>(storage).sin_port)};
}

}  // namespace

MisbehavingServer::MisbehavingServer(Script script, Options options)
    : script_(std::move(script)), options_(std::move(options)), stop_fd_(eventfd(0, EFD_CLOEXEC)) {
  Bound bound = Bind(options_.address);
  listen_fd_ = bound.fd;
  port_ = bound.port;
  CHECK(listen(listen_fd_, 128) == 0);
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to closed connections
  acceptor_ = std::thread([this] { Accept(); });
}

MisbehavingServer::~MisbehavingServer() {
  std::uint64_t one = 1;
  CHECK(write(stop_fd_, &one, sizeof one) == sizeof one);
  acceptor_.join();
  close(listen_fd_);
  close(stop_fd_);
}

std::vector<std::string> MisbehavingServer::requests() const {
  std::lock_guard lock(mutex_);
  return requests_;
}

void MisbehavingServer::Accept() {
  for (;;) {
    pollfd polled[] = {{listen_fd_, POLLIN, 0}, {stop_fd_, POLLIN, 0}};
    CHECK(poll(polled, 2, -1) > 0);
    if (polled[1].revents != 0) break;
    int fd = accept4(listen_fd_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd >= 0) threads_.emplace_back([this, fd] { Serve(fd); });
  }
  for (std::thread& thread : threads_) thread.join();
}

void MisbehavingServer::Serve(int fd) {
  Connection connection(*this, fd);
  if (options_.tls != nullptr && !connection.Handshake(options_.tls)) return;
  script_(connection);
}

MisbehavingServer::Connection::~Connection() {
  if (ssl_ != nullptr) SSL_free(ssl_);
  if (fd_ >= 0) close(fd_);
}

bool MisbehavingServer::Connection::Handshake(SSL_CTX* context) {
  ssl_ = SSL_new(context);
  SSL_set_fd(ssl_, fd_);
  return SSL_accept(ssl_) == 1;
}

std::string MisbehavingServer::Connection::Read() {
  char buffer[64 * 1024];
  if (ssl_ != nullptr) {
    int count = SSL_read(ssl_, buffer, sizeof buffer);
    return count > 0 ? std::string(buffer, static_cast<std::size_t>(count)) : "";
  }
  ssize_t count = recv(fd_, buffer, sizeof buffer, 0);
  return count > 0 ? std::string(buffer, static_cast<std::size_t>(count)) : "";
}

std::string MisbehavingServer::Connection::ReadRequest() {
  std::string text;
  std::size_t wanted = std::string::npos;
  while (text.size() < wanted) {
    std::string more = Read();
    if (more.empty()) break;
    text += more;
    std::size_t end = text.find("\r\n\r\n");
    if (end == std::string::npos) continue;
    std::size_t length = text.find("Content-Length: ");
    wanted = end + 4 + (length < end ? std::stoul(text.substr(length + 16)) : 0);
  }
  std::lock_guard lock(server_.mutex_);
  server_.requests_.push_back(text);
  return text;
}

bool MisbehavingServer::Connection::Send(std::string_view bytes) {
  if (ssl_ != nullptr)
    return bytes.empty() || SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())) > 0;
  while (!bytes.empty()) {
    ssize_t count = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool MisbehavingServer::Connection::WaitForClose() {
  for (;;) {
    pollfd polled[] = {{fd_, POLLIN, 0}, {server_.stop_fd_, POLLIN, 0}};
    CHECK(poll(polled, 2, -1) > 0);
    if (polled[0].revents != 0 && Read().empty()) return true;
    if (polled[1].revents != 0) return false;
  }
}

bool MisbehavingServer::Connection::Pause() {
  pollfd polled[] = {{fd_, POLLRDHUP, 0}, {server_.stop_fd_, POLLIN, 0}};
  return poll(polled, 2, kDripPauseMs) == 0;
}

void MisbehavingServer::Connection::Drip(std::string_view piece) {
  while (Send(piece) && Pause()) {
  }
}

void MisbehavingServer::Connection::SendSlowly(std::string_view bytes) {
  std::size_t piece = bytes.size() / 10 + 1;
  while (!bytes.empty() && Pause() && Send(bytes.substr(0, piece)))
    bytes.remove_prefix(std::min(piece, bytes.size()));
}

void MisbehavingServer::Connection::SendInTwo(std::string_view bytes, std::size_t first) {
  if (Send(bytes.substr(0, first)) && Pause()) Send(bytes.substr(first));
}

std::string MisbehavingServer::Connection::ServerName() const {
  const char* name = ssl_ == nullptr ? nullptr : SSL_get_servername(ssl_, TLSEXT_NAMETYPE_host_name);
  return name == nullptr ? "" : name;
}

void MisbehavingServer::Connection::Reset() {
  linger immediately{1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &immediately, sizeof immediately);
  close(fd_);
  fd_ = -1;
}

void MisbehavingServer::Connection::SendCloseNotify() {
  if (ssl_ != nullptr) SSL_shutdown(ssl_);
}

MisbehavingServer::Script AnswerWith(std::string text) {
  return [text = std::move(text)](MisbehavingServer::Connection& connection) {
    connection.ReadRequest();
    connection.Send(text);
    connection.SendCloseNotify();
  };
}

ClosedPort::ClosedPort() {
  Bound bound = Bind("127.0.0.1");
  fd_ = bound.fd;
  port_ = bound.port;
}

ClosedPort::~ClosedPort() { close(fd_); }

FullPort::FullPort() {
  Bound bound = Bind("127.0.0.1");
  port_ = bound.port;
  CHECK(listen(bound.fd, 0) == 0);
  fds_.push_back(bound.fd);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port_);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  // The kernel accepts a few connections for the server, and lets further ones wait.
  for (bool taken = true; taken;) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    CHECK(fd >= 0);
    fds_.push_back(fd);
    [[maybe_unused]] int begun = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
    pollfd polled{fd, POLLOUT, 0};
    taken = poll(&polled, 1, 100) > 0;
  }
}

FullPort::~FullPort() {
  for (int fd : fds_) close(fd);
}

}  // namespace terrarium::testbed
