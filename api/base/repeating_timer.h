#pragma once

// Timers of heartbeats and checks that repeat at a fixed interval.
//
// A repeating timer is a background timer of which a virtual clock may skip occurrences: as long as nothing
// else happens, every occurrence does what the one before did. A check that has found something which it must
// follow up posts its next occurrence as an ordinary background timer instead. It can rely on one thing:
// after any other timer or request, each repeating timer with a period of at most 30 s fires once before
// occurrences are skipped. A repeating timer with a longer period must never have anything to do.

#include <coroutine>
#include <utility>

#include "api/base/executor.h"

namespace terrarium::api {

// What an executor implements too if its clock can skip.
class RepeatingTimers {
 public:
  virtual ~RepeatingTimers() = default;
  // Runs `work` once, `delay` from now, or a multiple of `period` later if the clock has skipped occurrences.
  virtual TimerId PostRepeating(Duration period, Duration delay, std::function<void()> work) = 0;
};

// The executor's PostRepeating(); a background timer on an executor whose clock never skips.
inline TimerId PostRepeating(Executor& executor, Duration period, Duration delay,
                             std::function<void()> work) {
  if (auto* timers = dynamic_cast<RepeatingTimers*>(&executor))
    return timers->PostRepeating(period, delay, std::move(work));
  return executor.PostInBackground(delay, std::move(work));
}

// `co_await SleepUntilRepeated(executor, period)`.
class [[nodiscard]] SleepUntilRepeated {
 public:
  SleepUntilRepeated(Executor& executor, Duration period) : executor_(executor), period_(period) {}
  ~SleepUntilRepeated() {
    if (timer_ != 0) executor_.Cancel(timer_);
  }
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) {
    timer_ = PostRepeating(executor_, period_, period_, [this, caller] {
      timer_ = 0;
      caller.resume();
    });
  }
  void await_resume() const noexcept {}

 private:
  Executor& executor_;
  Duration period_;
  TimerId timer_ = 0;
};

}  // namespace terrarium::api
