#pragma once

// A thread that waits for sockets and for time, and runs what it is told to.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace terrarium::testbed::internal {

class PollLoop {
 public:
  using Clock = std::chrono::steady_clock;
  using Timer = std::pair<Clock::time_point, std::uint64_t>;

  PollLoop();
  // Runs what has been posted, and what that posts, and ends. REQUIRES: not on the loop's own thread.
  ~PollLoop();

  // Runs `work` on the thread, later. Thread-safe.
  void Post(std::function<void()> work);

  // The rest is for work that runs on the thread.

  Timer At(Clock::time_point due, std::function<void()> work);
  void Cancel(const Timer& timer);  // nothing to do when it has fired
  // Calls `ready` with poll's events whenever some of `events` (or an error) are there. Replaces what was said of the
  // descriptor before.
  void Watch(int fd, short events, std::function<void(short)> ready);
  void Forget(int fd);

 private:
  struct Watched {
    short events = 0;
    std::uint64_t generation = 0;  // tells a descriptor from a later one of the same number
    std::function<void(short)> ready;
  };

  void Run();
  void Wait();
  bool RunPosted();  // false: there was nothing, and the end has been asked for
  void FireTimers();
  int MillisecondsLeft() const;

  int wake_fd_;
  std::map<Timer, std::function<void()>> timers_;
  std::uint64_t last_timer_ = 0;
  std::map<int, Watched> watched_;
  std::uint64_t last_generation_ = 0;

  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;  // under mutex_
  bool ending_ = false;                        // under mutex_

  std::thread thread_;
};

}  // namespace terrarium::testbed::internal
