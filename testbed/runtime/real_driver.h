#pragma once

// Threads that run control planes. A pool has a fixed number of worker threads for any number of control
// planes. Each control plane has a driver that connects its runtime to the pool.

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

#include "api/base/cancel_token.h"
#include "testbed/runtime/clock_control.h"
#include "testbed/runtime/runtime.h"

namespace terrarium::testbed {

// Workers run ready work, and one thread fires the timers of all clocks. A clock move blocks until its
// control plane is quiet, so it has a thread of its own while it lasts. The pool outlives its drivers.
// Thread-safe.
class LivePool {
 public:
  explicit LivePool(int workers);
  ~LivePool();

  // Runs `work`, which may block, on a thread that is not a worker.
  void RunOnOwnThread(std::function<void()> work);
  // Waits for the work of RunOnOwnThread() and for running pieces of work, then ends the threads. Idempotent.
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
  void EnqueueClock(const MemberPtr& member);
  void FireTimers();
  void FireTimersOf(const MemberPtr& member);
  void RunBlockingWork();

  std::atomic<bool> stopping_ = false;

  std::mutex listed_mutex_;
  std::deque<MemberPtr> listed_;  // control planes that may have ready work, each at most once
  std::atomic<unsigned> ready_signal_ = 0;

  std::mutex clocks_mutex_;
  std::condition_variable clocks_changed_;
  std::deque<MemberPtr> clocks_;                         // to be checked by the clock thread
  std::set<std::pair<WallTimePoint, MemberPtr>> waits_;  // due times; used by the clock thread only

  std::mutex blocking_mutex_;
  std::condition_variable blocking_changed_;
  std::deque<std::function<void()>> blocking_work_;
  std::size_t blocking_threads_ = 0;  // detached; Stop() waits until there are none
  std::size_t blocking_idle_ = 0;
  bool blocking_ends_ = false;

  std::vector<std::thread> threads_;
};

// Runs one runtime on a pool.
class LiveDriver {
 public:
  LiveDriver(Runtime& runtime, LivePool& pool);
  // With a pool of its own.
  LiveDriver(Runtime& runtime, int workers);
  ~LiveDriver();

  // Runs `work`, which may move the clock and may block, after all earlier `work` has returned. When
  // `cancelled` is given and becomes cancelled, its moves end, including those that have not begun.
  void Control(std::function<void(ClockControl&)> work,
               std::shared_ptr<api::CancelToken> cancelled = nullptr);
  // Ends the current clock move and every later one; all other work continues.
  void EndMoves();
  // Drops the runtime's work and returns when no thread runs any of it. Idempotent. REQUIRES: not called by
  // that work.
  void Stop();
  // After Stop(): waits until no outside operation is in flight either. False: `limit` passed first.
  bool WaitForOutside(std::chrono::nanoseconds limit);

 private:
  LiveDriver(Runtime& runtime, LivePool* pool, std::unique_ptr<LivePool> own_pool);

  std::unique_ptr<LivePool> own_pool_;
  LivePool& pool_;
  LivePool::MemberPtr member_;
};

}  // namespace terrarium::testbed
