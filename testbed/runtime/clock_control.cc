#include "testbed/runtime/clock_control.h"

#include <algorithm>
#include <utility>

namespace terrarium::testbed {

using Why = RunOutcome::Why;

namespace {

// Why a move is over whose control plane has not come to rest.
Why WhyOf(ClockControl::Rest rest) {
  switch (rest) {
    case ClockControl::Rest::kQuiet: return Why::kDone;
    case ClockControl::Rest::kStopped: return Why::kStopped;
    case ClockControl::Rest::kBusy: return Why::kBusy;
    case ClockControl::Rest::kEnded: break;
  }
  return Why::kEnded;
}

}  // namespace

RunOutcome ClockControl::WorkOffNow(std::int64_t timers_fired) {
  RunOutcome outcome{WhyOf(work_off_({})), runtime_.Now(), timers_fired};
  if (outcome.why == Why::kBusy) outcome.busiest = runtime_.BusiestLane();
  return outcome;
}

RunOutcome ClockControl::Settle() {
  runtime_.BeginInstant();
  return WorkOffNow(0);
}

api::Time ClockControl::TimeAfter(api::Duration duration) const {
  const api::Time now = runtime_.Now();
  return duration > kLastTime - now ? kLastTime : now + duration;
}

RunOutcome ClockControl::Advance(api::Duration duration, const Stop& stop) {
  if (stop && stop()) return {Why::kDone, runtime_.Now(), 0};
  const bool reachable = duration <= kLastTime - runtime_.Now();
  RunOutcome outcome = Run(TimeAfter(duration), stop, Goal::kTime);
  if (outcome.why == Why::kDeadline && reachable) outcome.why = Why::kDone;
  return outcome;
}

RunOutcome ClockControl::AdvanceToNextTimer() {
  RunOutcome outcome = Settle();
  if (outcome.why != Why::kDone) return outcome;
  auto next = runtime_.NextTimer();
  if (!next) return {Why::kNoTimer, runtime_.Now(), 0};
  runtime_.FireNext(*next);
  return WorkOffNow(1);
}

RunOutcome ClockControl::RunUntilIdle(api::Duration limit, const Stop& stop) {
  if (stop && stop()) return {Why::kDone, runtime_.Now(), 0};
  return Run(TimeAfter(limit), stop, Goal::kIdle);
}

RunOutcome ClockControl::RunUntil(const std::function<bool()>& holds, api::Duration limit) {
  if (holds()) return {Why::kDone, runtime_.Now(), 0};
  return Run(TimeAfter(limit), holds, Goal::kCondition);
}

void ClockControl::SkipRepeats(api::Time until, Goal goal) {
  // A condition may be one on the time itself.
  if (goal == Goal::kCondition) return;
  if (goal == Goal::kTime) return runtime_.SkipRepeats(until);
  if (auto next = runtime_.NextWorkTimer()) runtime_.SkipRepeats(std::min(until, *next));
}

RunOutcome ClockControl::Run(api::Time until, const Stop& stop, Goal goal) {
  const bool work_only = goal == Goal::kIdle;
  RunOutcome outcome;
  auto end = [&](Why why) {
    outcome.why = why;
    outcome.now = runtime_.Now();
    if (why == Why::kBusy) outcome.busiest = runtime_.BusiestLane();
    return outcome;
  };
  const std::uint64_t mode_changes = runtime_.mode_changes();
  runtime_.BeginInstant();
  runtime_.Unsettle();
  while (true) {
    const Rest rest = work_off_(stop);
    if (rest == Rest::kEnded) return end(Why::kEnded);
    // Timers that are due immediately follow each other without the clock moving either.
    if (rest == Rest::kBusy || runtime_.Overrun()) return end(stop && stop() ? Why::kDone : Why::kBusy);
    if (runtime_.mode().FollowsWall() || runtime_.mode_changes() != mode_changes) return end(Why::kStopped);
    if (stop && stop()) return end(Why::kDone);
    SkipRepeats(until, goal);
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
