#include "bench/watchers.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/load.h"

namespace terrarium::bench {
namespace {

int Open(std::uint16_t port, const std::string& path) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string request = GetRequest(path);
  bool fine = fd >= 0 && connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
              send(fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size());
  if (!fine) {
    std::perror("bench: watcher");
    std::exit(1);
  }
  return fd;
}

// Every event ends with a brace and a newline; the newlines of chunk headers do not follow a brace. `last` is
// the stream's last byte so far.
long CountEvents(std::string_view bytes, char& last) {
  long events = 0;
  for (char c : bytes) {
    if (c == '\n' && last == '}') ++events;
    last = c;
  }
  return events;
}

}  // namespace

double MeasureFanout(const Fanout& fanout) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  int poll = epoll_create1(EPOLL_CLOEXEC);
  std::vector<int> fds;
  std::vector<char> last(static_cast<std::size_t>(fanout.watchers), ' ');
  std::vector<char> buffer(1 << 20);
  for (int i = 0; i < fanout.watchers; ++i) {
    fds.push_back(Open(fanout.port, fanout.path));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u32 = static_cast<std::uint32_t>(i);
    epoll_ctl(poll, EPOLL_CTL_ADD, fds.back(), &event);
    // The response headers: from here on the stream is open.
    if (recv(fds.back(), buffer.data(), buffer.size(), 0) <= 0) std::exit(1);
  }
  auto start = std::chrono::steady_clock::now();
  std::thread writer([&] {
    Load load;
    load.port = fanout.port;
    load.connections = 4;
    load.seconds_max = 60;
    load.answers_max = static_cast<std::uint64_t>(fanout.events);
    load.request = fanout.trigger;
    RunLoad(load);
  });
  std::vector<epoll_event> events(256);
  long wanted = static_cast<long>(fanout.watchers) * fanout.events, got = 0;
  while (got < wanted) {
    int ready = epoll_wait(poll, events.data(), static_cast<int>(events.size()), 10'000);
    if (ready <= 0) {
      std::fprintf(stderr, "bench: only %ld of %ld events arrived\n", got, wanted);
      std::exit(1);
    }
    for (int i = 0; i < ready; ++i) {
      std::size_t watcher = events[static_cast<std::size_t>(i)].data.u32;
      ssize_t n = recv(fds[watcher], buffer.data(), buffer.size(), 0);
      if (n > 0) got += CountEvents({buffer.data(), static_cast<std::size_t>(n)}, last[watcher]);
    }
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  writer.join();
  for (int fd : fds) close(fd);
  close(poll);
  return static_cast<double>(wanted) / seconds;
}

}  // namespace terrarium::bench
