#include "testbed/clock_control.h"

#include <utility>

namespace terrarium::testbed {

using Why = RunOutcome::Why;

RunOutcome ClockControl::Settle() { return {work_off_({}) ? Why::kDone : Why::kBusy, runtime_.Now(), 0}; }

RunOutcome ClockControl::Advance(api::Duration duration) {
  RunOutcome outcome = Run(runtime_.Now() + duration, {}, false);
  if (outcome.why == Why::kDeadline) outcome.why = Why::kDone;
  return outcome;
}

RunOutcome ClockControl::AdvanceToNextTimer() {
  RunOutcome outcome = Settle();
  if (outcome.why == Why::kBusy) return outcome;
  auto next = runtime_.NextTimer();
  if (!next) return {Why::kNoTimer, runtime_.Now(), 0};
  runtime_.FireNext(*next);
  bool quiet = work_off_({});
  return {quiet ? Why::kDone : Why::kBusy, runtime_.Now(), 1};
}

RunOutcome ClockControl::RunUntilIdle(api::Duration limit) { return Run(runtime_.Now() + limit, {}, true); }

RunOutcome ClockControl::RunUntil(const std::function<bool()>& holds, api::Duration limit) {
  if (holds()) return {Why::kDone, runtime_.Now(), 0};
  return Run(runtime_.Now() + limit, holds, false);
}

RunOutcome ClockControl::Run(api::Time until, const Stop& stop, bool work_only) {
  RunOutcome outcome;
  auto end = [&](Why why) {
    outcome.why = why;
    outcome.now = runtime_.Now();
    return outcome;
  };
  const std::uint64_t mode_changes = runtime_.mode_changes();
  while (true) {
    if (!work_off_(stop)) return end(Why::kBusy);
    if (runtime_.mode().FollowsWall() || runtime_.mode_changes() != mode_changes) return end(Why::kStopped);
    if (stop && stop()) return end(Why::kDone);
    auto next = work_only ? runtime_.NextWorkTimer() : runtime_.NextTimer();
    if (!next && work_only) return end(Why::kIdle);
    if (!next || *next > until) {
      // Housekeeping before the end still happens at its own instants.
      if (work_only && runtime_.FireNext(until)) {
        ++outcome.timers_fired;
        continue;
      }
      runtime_.MoveTo(until);
      return end(Why::kDeadline);
    }
    // Housekeeping timers on the way to the next piece of work come first, each at its own instant.
    if (runtime_.FireNext(*next)) ++outcome.timers_fired;
  }
}

}  // namespace terrarium::testbed
