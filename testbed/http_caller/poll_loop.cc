#include "testbed/http_caller/internal/poll_loop.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "api/base/check.h"

namespace terrarium::testbed::internal {

PollLoop::PollLoop() : wake_fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  CHECK(wake_fd_ >= 0);
  // Signals are for the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([this] { Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

PollLoop::~PollLoop() {
  CHECK(std::this_thread::get_id() != thread_.get_id());
  Post([this] {
    std::lock_guard lock(mutex_);
    ending_ = true;
  });
  thread_.join();
  close(wake_fd_);
}

void PollLoop::Post(std::function<void()> work) {
  {
    std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
  }
  std::uint64_t one = 1;
  // It fails only when the counter is full, and then the loop is going to wake up anyway.
  [[maybe_unused]] ssize_t written = write(wake_fd_, &one, sizeof one);
}

PollLoop::Timer PollLoop::At(Clock::time_point due, std::function<void()> work) {
  Timer timer{due, ++last_timer_};
  timers_.emplace(timer, std::move(work));
  return timer;
}

void PollLoop::Cancel(const Timer& timer) { timers_.erase(timer); }

void PollLoop::Watch(int fd, short events, std::function<void(short)> ready) {
  watched_[fd] = {events, ++last_generation_, std::move(ready)};
}

void PollLoop::Forget(int fd) { watched_.erase(fd); }

void PollLoop::Run() {
  while (RunPosted()) {
    Wait();
    FireTimers();
  }
}

bool PollLoop::RunPosted() {
  for (;;) {
    std::vector<std::function<void()>> work;
    {
      std::lock_guard lock(mutex_);
      if (posted_.empty()) return !ending_;
      work.swap(posted_);
    }
    for (auto& piece : work) piece();
  }
}

void PollLoop::Wait() {
  std::vector<pollfd> polled = {{wake_fd_, POLLIN, 0}};
  std::vector<std::uint64_t> generations = {0};
  for (const auto& [fd, watched] : watched_) {
    polled.push_back({fd, watched.events, 0});
    generations.push_back(watched.generation);
  }
  int count = poll(polled.data(), polled.size(), MillisecondsLeft());
  if (count < 0) {
    CHECK(errno == EINTR || errno == EAGAIN || errno == ENOMEM);
    return;
  }
  if (polled[0].revents != 0) {
    std::uint64_t wakes = 0;
    [[maybe_unused]] ssize_t got = read(wake_fd_, &wakes, sizeof wakes);
  }
  for (std::size_t i = 1; i < polled.size(); ++i) {
    if (polled[i].revents == 0) continue;
    auto it = watched_.find(polled[i].fd);
    if (it == watched_.end() || it->second.generation != generations[i]) continue;
    auto ready = it->second.ready;  // it may forget itself
    ready(polled[i].revents);
  }
}

void PollLoop::FireTimers() {
  // What is added meanwhile waits for the next round.
  Timer last{Clock::now(), last_timer_};
  while (!timers_.empty() && timers_.begin()->first <= last) {
    auto work = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    work();
  }
}

// Rounded up: a timer that is due in half a millisecond must not make poll return at once until then.
int PollLoop::MillisecondsLeft() const {
  if (timers_.empty()) return -1;
  auto left = std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first.first - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

}  // namespace terrarium::testbed::internal
