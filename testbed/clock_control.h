#pragma once

// Moving a virtual clock, honestly: timers fire one after the other, each at its own instant, and everything that comes
// of one is worked off before the next one fires. REQUIRES: one call at a time.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "api/base/clock.h"
#include "testbed/runtime.h"

namespace terrarium::testbed {

struct RunOutcome {
  enum class Why {
    kDone,      // the time has been reached, the timer fired, the condition holds
    kIdle,      // nothing is left to do but housekeeping
    kDeadline,  // the virtual deadline passed first
    kNoTimer,   // there is no timer to advance to
    kStopped,   // somebody set the clock's mode meanwhile
    kBusy,      // the plane does not come to rest: there is always more work at this instant
  };
  Why why = Why::kDone;
  api::Time now{};
  std::int64_t timers_fired = 0;
};

class ClockControl {
 public:
  // `work_off` works off everything that is ready and returns when the plane is quiet; it asks `stop` after every piece of
  // work that it can see and returns early when that says so. False: the plane does not come to rest.
  using Stop = std::function<bool()>;
  using WorkOff = std::function<bool(const Stop& stop)>;
  ClockControl(Runtime& runtime, WorkOff work_off) : runtime_(runtime), work_off_(std::move(work_off)) {}

  // Works off what is ready now, without moving the clock.
  RunOutcome Settle();
  RunOutcome Advance(api::Duration duration);
  // To the next timer of any kind, and its consequences.
  RunOutcome AdvanceToNextTimer();
  // Until no work is left and only housekeeping timers are set, or until `limit` has passed.
  RunOutcome RunUntilIdle(api::Duration limit);
  // Until `holds` says so (asked before the first step and after every piece of work), or until `limit` has passed.
  RunOutcome RunUntil(const std::function<bool()>& holds, api::Duration limit);

 private:
  RunOutcome Run(api::Time until, const Stop& stop, bool work_only);

  Runtime& runtime_;
  WorkOff work_off_;
};

}  // namespace terrarium::testbed
