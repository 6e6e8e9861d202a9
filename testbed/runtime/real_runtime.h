#pragma once

// The live control plane's sources from the machine: the wall clock, a thread for timers of connections,
// entropy.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "api/base/clock.h"
#include "api/base/executor.h"

namespace terrarium::testbed {

class RealClock : public api::Clock {
 public:
  api::Time Now() const override;
};

// Runs posted work and timers on one thread of its own. Work posted while stopping is dropped.
class ThreadExecutor : public api::Executor {
 public:
  ThreadExecutor();
  ~ThreadExecutor() override;

  void Post(std::function<void()> work) override;
  api::TimerId PostTimer(api::TimerKind kind, api::Duration delay, std::function<void()> work) override;
  bool Cancel(api::TimerId id) override;
  // Ends the thread after the work that is running. Idempotent.
  void Stop();

 private:
  using Due = std::chrono::steady_clock::time_point;
  using Timers = std::map<std::pair<Due, api::TimerId>, std::function<void()>>;
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  Timers timers_;
  std::map<api::TimerId, Due> due_;
  api::TimerId next_id_ = 1;
  bool stopping_ = false;
  std::thread thread_;
};

// Elapsed wall-clock time, for RuntimeOptions::wall.
std::chrono::nanoseconds WallTime();

// A seed from the machine's entropy, for runs that need not be repeated.
std::uint64_t RandomSeed();

}  // namespace terrarium::testbed
