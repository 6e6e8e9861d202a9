#pragma once

// Time and work of one control plane: the clock that its components read and the lanes they work on.
//
// A lane is the executor of one component: it runs one piece of work at a time, in the order posted. The next
// lane is drawn from the seed (simulation) or chosen by arrival (live). Timers use the control plane's own
// time and become ready work of their lane when the clock reaches them.
//
// The runtime decides what runs next; a driver runs it: Simulation on the caller's thread, LiveDriver on its
// own threads. Thread-safe.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/base/executor.h"
#include "api/base/prng.h"
#include "api/base/status.h"

namespace terrarium::testbed {

// 9999-12-31T23:59:59.999999Z, the last time that an API object can hold (api::HasFourDigitYear). No clock
// goes past it, and a timer that would be due later never fires.
inline constexpr api::Time kLastTime{api::Duration(253'402'300'799'999'999)};

struct ClockMode {
  enum class Kind {
    kReal,     // follows the wall clock
    kScaled,   // `factor` times as fast
    kVirtual,  // stands still until it is advanced
    kAuto,     // virtual, and jumps to the next timer whenever the control plane is idle
  };
  Kind kind = Kind::kReal;
  double factor = 1;

  // "real", "scaled=N", "virtual", "auto".
  static api::Result<ClockMode> Parse(const std::string& text);
  std::string String() const;
  bool FollowsWall() const { return kind == Kind::kReal || kind == Kind::kScaled; }
};

struct RuntimeOptions {
  api::Time start{};
  std::uint64_t seed = 1;
  bool seeded_order = false;
  ClockMode mode = {};
  // Elapsed wall-clock time, for the modes that follow it. Without it the clock is always virtual.
  std::function<std::chrono::nanoseconds()> wall = {};
};

class Runtime : public api::Clock {
 public:
  explicit Runtime(RuntimeOptions options);
  ~Runtime() override;

  api::Time Now() const override;
  // The lane of that name, created on first use. It lives as long as the runtime.
  api::Executor& Lane(const std::string& name);

  ClockMode mode() const;
  // The clock continues from its current time.
  void SetMode(ClockMode mode);
  // Grows with every SetMode(). A clock move ends when another caller sets the mode.
  std::uint64_t mode_changes() const;

  // For drivers.
  struct Piece {
    std::size_t lane;
    std::function<void()> work;
  };
  // The next piece of ready work; its lane is busy until Finished(). nullopt: nothing is ready on a free
  // lane.
  std::optional<Piece> TakeReady();
  void Finished(const Piece& piece);
  // Nothing is ready, running, or in flight outside.
  bool Quiet() const;
  // Quiet, and all timers are background timers: nothing changes until the clock moves or a request arrives.
  bool Idle() const { return Quiet() && !NextWorkTimer(); }
  bool OutsideUnderWay() const;
  bool HasReady() const;
  // When the next timer is due: any timer, or only work timers.
  std::optional<api::Time> NextTimer() const;
  std::optional<api::Time> NextWorkTimer() const;
  // Moves a virtual clock to the first timer that is due at or before `until` and makes its work ready.
  // False: there is no such timer. On a clock that follows the wall clock: the same for a timer that is due
  // now.
  bool FireNext(api::Time until);
  // Postpones repeating timers (api/base/repeating_timer.h) on a virtual clock, so that it can go on to the
  // last kUnskipped before `until` or before the first other timer that is due. No-op while the control plane
  // is not quiet, within kSettleTime after another timer or Unsettle(), and while an occurrence could be
  // observed (HoldSkips).
  void SkipRepeats(api::Time until);
  // Long enough for every node to renew its Lease, so that all heartbeats are as old as without the skip.
  static constexpr api::Duration kUnskipped = std::chrono::seconds(10);
  // Long enough for every periodic check to run once.
  static constexpr api::Duration kSettleTime = std::chrono::seconds(30);
  // The control plane may change for a reason that the runtime does not see.
  void Unsettle();
  // Occurrences are not skipped for as long as the caller keeps the result.
  std::shared_ptr<void> HoldSkips();
  // Moves a virtual clock forward. REQUIRES: no timer is due before `time`.
  void MoveTo(api::Time time);
  // Restarts the count of pieces at this instant, as every move of a virtual clock does.
  void BeginInstant();
  // More pieces of work ran at this instant than allowed: components react to each other's events
  // indefinitely.
  bool Overrun();
  // The same for a virtual or auto clock, over the work since the control plane was last quiet or since the
  // last OnRequest().
  bool IsLivelocked();
  // A client's request may end the livelock, and unsettles.
  void OnRequest();
  // The lane that ran most pieces of work at this instant.
  std::string BusiestLane() const;
  // Sets how many pieces one instant may have. `allowed` is called without locks held, from any thread, and
  // only after kInstantPiecesUnchecked pieces at one instant. Call before work begins.
  static constexpr std::int64_t kInstantPieces = 50'000;
  static constexpr std::int64_t kInstantPiecesUnchecked = 1'000;
  void SetInstantPieces(std::function<std::int64_t()> allowed);
  // Moves the clock forward to `time` if it is earlier, in every mode.
  void NotBefore(api::Time time);
  // Wall-clock time until the next timer is due, at most a day, for the modes that follow the wall clock.
  std::optional<std::chrono::nanoseconds> WallUntilNextTimer() const;
  enum class Signal {
    kReady,   // a lane has work to run
    kTimers,  // the earliest due time or the clock's mode has changed
    kQuiet,   // no work is left to run
  };
  // `notify` is called without locks held, from any thread. Set once, before work begins.
  void SetNotify(std::function<void(Signal)> notify);
  // Drops all work and timers, and everything posted later.
  void Shutdown();

 private:
  class Impl;
  class LaneExecutor;
  std::unique_ptr<Impl> impl_;
};

}  // namespace terrarium::testbed
