#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "api/base/clock.h"

namespace terrarium::api {

using TimerId = std::uint64_t;

enum class TimerKind {
  kWork,  // the control plane is not idle while one is pending
  // Housekeeping that repeats indefinitely (heartbeats, periodic checks, resyncs). A background timer fires
  // when it is due, like any other, but a control plane with only background timers left is idle.
  kBackground,
};

// Runs work later: on threads in the live runtime, on a single thread in the simulated one. Each component
// has its own executor (its lane), which runs one piece of work at a time, in the order posted. Work posted
// after shutdown began is dropped.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void Post(std::function<void()> work) = 0;
  virtual TimerId PostTimer(TimerKind kind, Duration delay, std::function<void()> work) = 0;
  // Returns true when the timer had not fired; it will not fire any more.
  virtual bool Cancel(TimerId id) = 0;

  // Runs `work` once, `delay` from now by the control plane's clock.
  TimerId PostAfter(Duration delay, std::function<void()> work) {
    return PostTimer(TimerKind::kWork, delay, std::move(work));
  }
  TimerId PostInBackground(Duration delay, std::function<void()> work) {
    return PostTimer(TimerKind::kBackground, delay, std::move(work));
  }

  // These two calls enclose work outside the executor (a commit on disk, a call to another server) that will
  // post its result here. Until OutsideEnded, the control plane is not idle and a virtual clock does not
  // advance. See OutsideWork.
  virtual void OutsideStarted() {}
  virtual void OutsideEnded() {}
};

// Keeps the control plane from becoming idle while work outside its executors is in progress. Movable; the
// destructor calls End.
class OutsideWork {
 public:
  OutsideWork() = default;
  explicit OutsideWork(Executor& executor) : executor_(&executor) { executor.OutsideStarted(); }
  OutsideWork(OutsideWork&& other) noexcept : executor_(std::exchange(other.executor_, nullptr)) {}
  OutsideWork& operator=(OutsideWork&& other) noexcept {
    if (this != &other) {
      End();
      executor_ = std::exchange(other.executor_, nullptr);
    }
    return *this;
  }
  ~OutsideWork() { End(); }
  void End() {
    if (Executor* executor = std::exchange(executor_, nullptr)) executor->OutsideEnded();
  }

 private:
  Executor* executor_ = nullptr;
};

}  // namespace terrarium::api
