#include "bench/load.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace terrarium::bench {
namespace {

using Clock = std::chrono::steady_clock;

int Connect(std::uint16_t port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    std::perror("bench: connect");
    std::exit(1);
  }
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

void SendAll(int fd, const std::string& text) {
  std::size_t sent = 0;
  while (sent < text.size()) {
    ssize_t n = send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) {
      std::perror("bench: send");
      std::exit(1);
    }
    sent += static_cast<std::size_t>(n);
  }
}

// Reads responses with a Content-Length, which is enough for the benchmarks.
class AnswerReader {
 public:
  // True when a response is complete; `code` is then its status.
  bool Feed(std::string_view bytes) {
    buffer_.append(bytes);
    if (head_ == 0) {
      std::size_t end = buffer_.find("\r\n\r\n");
      if (end == std::string::npos) return false;
      head_ = end + 4;
      code = std::atoi(buffer_.c_str() + 9);
      length_ = ContentLength();
    }
    return buffer_.size() >= head_ + length_;
  }
  std::string TakeBody() {
    std::string body = buffer_.substr(head_, length_);
    Reset();
    return body;
  }
  void Reset() {
    buffer_.erase(0, head_ + length_);
    head_ = 0;
    length_ = 0;
  }
  int code = 0;

 private:
  std::size_t ContentLength() const {
    for (const char* name : {"content-length: ", "Content-Length: "}) {
      std::size_t at = buffer_.find(name);
      if (at != std::string::npos && at < head_)
        return std::strtoull(buffer_.c_str() + at + std::strlen(name), nullptr, 10);
    }
    return 0;
  }
  std::string buffer_;
  std::size_t head_ = 0;
  std::size_t length_ = 0;
};

struct Connection {
  int fd = -1;
  AnswerReader reader;
};

}  // namespace

LoadResult RunLoad(const Load& load) {
  std::vector<Connection> connections(static_cast<std::size_t>(load.connections));
  int poll = epoll_create1(EPOLL_CLOEXEC);
  std::uint64_t sent = 0;
  for (std::size_t i = 0; i < connections.size(); ++i) {
    connections[i].fd = Connect(load.port);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = i;
    epoll_ctl(poll, EPOLL_CTL_ADD, connections[i].fd, &event);
  }
  LoadResult result;
  auto start = Clock::now();
  auto end =
      start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(load.seconds_max));
  for (Connection& c : connections)
    if (sent < load.answers_max) SendAll(c.fd, load.request(sent++));
  std::vector<epoll_event> events(connections.size());
  std::vector<char> buffer(256 * 1024);
  while (result.answers < sent) {
    int ready = epoll_wait(poll, events.data(), static_cast<int>(events.size()), 5000);
    if (ready <= 0) break;
    bool more = Clock::now() < end;
    for (int i = 0; i < ready; ++i) {
      Connection& c = connections[events[static_cast<std::size_t>(i)].data.u64];
      ssize_t n = recv(c.fd, buffer.data(), buffer.size(), 0);
      if (n <= 0) {
        std::fprintf(stderr, "bench: the server closed a connection\n");
        std::exit(1);
      }
      if (!c.reader.Feed({buffer.data(), static_cast<std::size_t>(n)})) continue;
      ++result.answers;
      if (c.reader.code < 200 || c.reader.code > 299) ++result.errors;
      c.reader.Reset();
      if (more && sent < load.answers_max) SendAll(c.fd, load.request(sent++));
    }
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  for (Connection& c : connections) close(c.fd);
  close(poll);
  return result;
}

std::string GetRequest(const std::string& path) {
  return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n\r\n";
}

std::string BodyRequest(const std::string& method, const std::string& path, const std::string& content_type,
                        const std::string& body) {
  return method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + content_type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

OneAnswer FetchOnce(std::uint16_t port, const std::string& request) {
  OneAnswer out;
  int fd = Connect(port);
  auto start = Clock::now();
  SendAll(fd, request);
  AnswerReader reader;
  std::vector<char> buffer(1024 * 1024);
  for (;;) {
    ssize_t n = recv(fd, buffer.data(), buffer.size(), 0);
    if (n <= 0) break;
    if (!reader.Feed({buffer.data(), static_cast<std::size_t>(n)})) continue;
    out.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    out.code = reader.code;
    out.body = reader.TakeBody();
    out.bytes = out.body.size();
    break;
  }
  close(fd);
  return out;
}

}  // namespace terrarium::bench
