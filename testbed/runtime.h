#pragma once

// Time and work of one plane: the clock that its components read and the lanes they work on.
//
// A lane is the executor of one component: its work runs one piece at a time, in the order posted. Which lane goes next
// is drawn from the seed (simulation) or goes by arrival (live). Timers are kept in the plane's own time and become
// ready work of their lane when the clock reaches them.
//
// The runtime decides what is next; a driver runs it: Simulation on the caller's thread, LiveDriver on threads of its
// own. Thread-safe.

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

struct ClockMode {
  enum class Kind {
    kReal,     // goes with the wall clock
    kScaled,   // `factor` times as fast
    kVirtual,  // stands still until it is advanced
    kAuto,     // virtual, and jumps to the next timer whenever the plane is idle
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
  // Time that passes in the world, for the modes that follow it. Without it the clock is always virtual.
  std::function<std::chrono::nanoseconds()> wall = {};
};

class Runtime : public api::Clock {
 public:
  explicit Runtime(RuntimeOptions options);
  ~Runtime() override;

  api::Time Now() const override;
  // The lane of that name, made on first use; it lives as long as the runtime.
  api::Executor& Lane(const std::string& name);

  ClockMode mode() const;
  // The clock goes on from where it stands.
  void SetMode(ClockMode mode);
  // How often that has been done: whoever moves the clock stops when somebody else takes it over.
  std::uint64_t mode_changes() const;

  // For drivers.
  struct Piece {
    std::size_t lane;
    std::function<void()> work;
  };
  // The next piece of ready work; its lane is busy until Finished(). nullopt: nothing is ready on a free lane.
  std::optional<Piece> TakeReady();
  void Finished(const Piece& piece);
  // Nothing is ready, running, or under way outside.
  bool Quiet() const;
  bool OutsideUnderWay() const;
  bool HasReady() const;
  // When the next timer is due: of all, or of those that mean work.
  std::optional<api::Time> NextTimer() const;
  std::optional<api::Time> NextWorkTimer() const;
  // Moves a virtual clock to the first timer that is due at or before `until` and makes its work ready; false: there is
  // none. With a clock that follows the wall: the same for a timer that is due now.
  bool FireNext(api::Time until);
  // Moves a virtual clock forward. REQUIRES: no timer is due before.
  void MoveTo(api::Time time);
  // The clock stands at `time` or later from now on, in every mode.
  void NotBefore(api::Time time);
  // How long in the world until the next timer is due, for the modes that follow it.
  std::optional<std::chrono::nanoseconds> WallUntilNextTimer() const;
  enum class Signal {
    kReady,   // a lane has something to run
    kTimers,  // a timer is due sooner than all others, or time goes differently now
    kQuiet,   // nothing is left to run
  };
  // Called without locks held, from any thread. Set once, before work begins.
  void SetNotify(std::function<void(Signal)> notify);
  // Drops all work and all timers, and everything posted from now on.
  void Shutdown();

 private:
  class Impl;
  class LaneExecutor;
  std::unique_ptr<Impl> impl_;
};

}  // namespace terrarium::testbed
