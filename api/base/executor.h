#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "api/base/clock.h"

namespace terrarium::api {

using TimerId = std::uint64_t;

enum class TimerKind {
  kWork,  // something will come of it: a plane that waits for one is not idle
  // Housekeeping that goes on for ever (heartbeats, periodic checks, resyncs). It fires when its time has come like any
  // other, but a plane in which only such timers are left is idle.
  kBackground,
};

// Runs work later: on threads in the live runtime, on the one thread of the simulated one. Each component has an
// executor of its own (a lane), whose work runs one piece at a time in the order posted. Work posted after shutdown
// began is dropped.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void Post(std::function<void()> work) = 0;
  virtual TimerId PostTimer(TimerKind kind, Duration delay, std::function<void()> work) = 0;
  // True when the timer had not fired and now never will.
  virtual bool Cancel(TimerId id) = 0;

  // Runs `work` once, `delay` from now by the plane's clock.
  TimerId PostAfter(Duration delay, std::function<void()> work) {
    return PostTimer(TimerKind::kWork, delay, std::move(work));
  }
  TimerId PostInBackground(Duration delay, std::function<void()> work) {
    return PostTimer(TimerKind::kBackground, delay, std::move(work));
  }

  // Between these two, something outside the executor is under way (a commit on disk, a call to another server) that
  // will post its result here: the plane is not idle and a virtual clock stands still. See OutsideWork.
  virtual void OutsideStarted() {}
  virtual void OutsideEnded() {}
};

// Holds a plane busy while work outside its executors is under way. Movable; ends when destroyed.
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
