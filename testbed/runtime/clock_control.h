#pragma once

// Moves a virtual clock. No state is skipped: timers fire in order, each at its own instant, and all
// consequences of one are processed before the next one fires. Without a condition to check, a move passes
// occurrences of repeating timers at which nothing would change (Runtime::SkipRepeats). REQUIRES: one call at
// a time.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "api/base/clock.h"
#include "testbed/runtime/runtime.h"

namespace terrarium::testbed {

struct RunOutcome {
  enum class Why {
    kDone,      // the time has been reached, the timer fired, the condition holds
    kIdle,      // only background timers are left
    kDeadline,  // the virtual deadline passed first
    kNoTimer,   // there is no timer to advance to
    kStopped,   // another caller set the clock's mode meanwhile
    kBusy,      // the control plane does not settle: there is always more work at this instant
    kEnded,     // the control plane is stopping, or the caller has cancelled the move
  };
  Why why = Why::kDone;
  api::Time now{};
  std::int64_t timers_fired = 0;
  std::string busiest = {};  // with kBusy: the lane that ran most pieces of work at this instant
};

class ClockControl {
 public:
  using Stop = std::function<bool()>;
  enum class Rest {
    kQuiet,    // nothing is ready, running or in flight
    kStopped,  // `stop` returned true, or the clock's mode has changed
    kBusy,     // Runtime::Overrun()
    kEnded,
  };
  // Runs all ready work and returns when the control plane is quiet, or early for one of the other reasons.
  // Calls `stop`, on the caller's thread, after each piece of work, and checks the clock's mode, which
  // another caller may change meanwhile. Pieces that run on several threads may share a call.
  using WorkOff = std::function<Rest(const Stop& stop)>;
  ClockControl(Runtime& runtime, WorkOff work_off) : runtime_(runtime), work_off_(std::move(work_off)) {}

  // Runs the work that is ready now, without moving the clock.
  RunOutcome Settle();
  // Ends at kLastTime, with kDeadline, if the time lies after it. Ends early, with kDone, when `stop` returns
  // true (called as in RunUntil(), but not for skipped occurrences: it must not depend on the time itself).
  RunOutcome Advance(api::Duration duration, const Stop& stop = {});
  // Advances to the next timer of any kind and processes its consequences.
  RunOutcome AdvanceToNextTimer();
  // Runs until the runtime is idle, `limit` has passed, or `stop` returns true (as in Advance(); the outcome
  // is kDone).
  RunOutcome RunUntilIdle(api::Duration limit, const Stop& stop = {});
  // Runs until `holds` returns true or `limit` has passed. `holds` is called before the first step and after
  // every piece of work.
  RunOutcome RunUntil(const std::function<bool()>& holds, api::Duration limit);

 private:
  RunOutcome WorkOffNow(std::int64_t timers_fired);
  // The time after `duration`, but at most kLastTime.
  api::Time TimeAfter(api::Duration duration) const;
  enum class Goal { kTime, kCondition, kIdle };
  void SkipRepeats(api::Time until, Goal goal);
  RunOutcome Run(api::Time until, const Stop& stop, Goal goal);

  Runtime& runtime_;
  WorkOff work_off_;
};

}  // namespace terrarium::testbed
