#pragma once

// The live runtime: the machine's clock, threads and entropy.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "api/base/executor.h"
#include "testbed/clock_control.h"
#include "testbed/runtime.h"

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
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<Due, api::TimerId>, std::function<void()>> timers_;
  std::map<api::TimerId, Due> due_;
  api::TimerId next_id_ = 1;
  bool stopping_ = false;
  std::thread thread_;
};

// Time that has passed in the world, for RuntimeOptions::wall.
std::chrono::nanoseconds WallTime();

// Runs a runtime on threads of its own: workers for ready work, and one thread that minds the clock.
class LiveDriver {
 public:
  LiveDriver(Runtime& runtime, int workers);
  ~LiveDriver();

  // Runs `work` on the clock's own thread, one after the other: it may take as long as it likes.
  void Control(std::function<void(ClockControl&)> work);
  // Ends the move of the clock that is under way, and each that comes, as busy; all other work goes on.
  void EndMoves();
  // Ends the threads after the pieces of work that are running. Idempotent.
  void Stop();

 private:
  void Notified(Runtime::Signal signal);
  void Work();
  void MindClock();
  // Waits, in the world's time, until the plane has nothing left to run; false when moves are to end.
  bool WaitUntilQuiet();

  Runtime& runtime_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void(ClockControl&)>> controls_;
  std::atomic<bool> awaits_quiet_ = false;
  std::atomic<unsigned> ready_signal_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> moves_end_ = false;
  std::uint64_t changes_ = 0;  // counted under mutex_, so that no signal is missed between a look and a wait
  std::vector<std::thread> threads_;
};

// A seed from the machine's entropy, for runs that need not be repeated.
std::uint64_t RandomSeed();

}  // namespace terrarium::testbed
