#pragma once

// Threads that run planes. A pool has a few threads for all of its planes, however many there are; each plane has a
// driver that ties its runtime to the pool.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "testbed/clock_control.h"
#include "testbed/runtime.h"

namespace terrarium::testbed {

// Workers run what is ready, one thread minds all clocks, and moves of clocks, which wait for their plane, each have a
// thread while they last. Outlives its drivers. Thread-safe.
class LivePool {
 public:
  explicit LivePool(int workers);
  ~LivePool();

  // Runs `work`, which may wait as long as it likes, on a thread that is no worker.
  void RunAside(std::function<void()> work);
  // Ends the threads, after what was to run aside and the pieces of work that are running. Idempotent.
  void Stop();

 private:
  friend class LiveDriver;
  struct Member;
  using MemberPtr = std::shared_ptr<Member>;
  using WallTimePoint = std::chrono::steady_clock::time_point;

  void Notified(const MemberPtr& member, Runtime::Signal signal);
  void List(const MemberPtr& member);
  MemberPtr NextListed();
  void Work();
  void WorkOn(const MemberPtr& member);
  void LookAtClockOf(const MemberPtr& member);
  void MindClocks();
  void MindClock(const MemberPtr& member);
  void WorkAside();

  std::atomic<bool> stopping_ = false;

  std::mutex listed_mutex_;
  std::deque<MemberPtr> listed_;  // planes that may have something ready, each once
  std::atomic<unsigned> ready_signal_ = 0;

  std::mutex clocks_mutex_;
  std::condition_variable clocks_changed_;
  std::deque<MemberPtr> clocks_;                         // to be looked at
  std::set<std::pair<WallTimePoint, MemberPtr>> waits_;  // to be looked at then; the clock thread's own

  std::mutex aside_mutex_;
  std::condition_variable aside_changed_;
  std::deque<std::function<void()>> aside_;
  std::size_t aside_threads_ = 0;  // detached; Stop() waits until there are none
  std::size_t aside_idle_ = 0;
  bool aside_ends_ = false;

  std::vector<std::thread> threads_;
};

// Runs one runtime on a pool.
class LiveDriver {
 public:
  LiveDriver(Runtime& runtime, LivePool& pool);
  // With a pool of its own.
  LiveDriver(Runtime& runtime, int workers);
  ~LiveDriver();

  // Runs `work` where the clock may be moved, one after the other: it may take as long as it likes.
  void Control(std::function<void(ClockControl&)> work);
  // Ends the move of the clock that is under way, and each that comes, as busy; all other work goes on.
  void EndMoves();
  // Drops the runtime's work; returns when nobody runs any of it. Idempotent. REQUIRES: not called by that work.
  void Stop();
  // After Stop(): waits until nothing is under way outside either. False: it was, for all of `limit`.
  bool WaitForOutside(std::chrono::nanoseconds limit);

 private:
  LiveDriver(Runtime& runtime, LivePool* pool, std::unique_ptr<LivePool> own_pool);

  std::unique_ptr<LivePool> own_pool_;
  LivePool& pool_;
  LivePool::MemberPtr member_;
};

}  // namespace terrarium::testbed
