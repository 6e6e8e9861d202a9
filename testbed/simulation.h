#pragma once

// Runs a plane's runtime on the caller's thread, in an order drawn from the seed.

#include <condition_variable>
#include <functional>
#include <mutex>

#include "testbed/clock_control.h"
#include "testbed/runtime.h"

namespace terrarium::testbed {

class Simulation {
 public:
  // More pieces of work than this at one instant mean that the plane does not come to rest.
  static constexpr std::int64_t kStepsMax = 50'000'000;

  Simulation(api::Time start, std::uint64_t seed);

  Runtime& runtime() { return runtime_; }
  ClockControl& clock() { return clock_; }
  // `look` is called after every piece of work, when nothing is under way.
  void SetAfterPiece(std::function<void()> look) { after_piece_ = std::move(look); }
  // `look` is called whenever work has been worked off, and told whether the plane is idle: only housekeeping is left.
  void SetOnRest(std::function<void(bool idle)> look) { on_rest_ = std::move(look); }

 private:
  bool Settle(const ClockControl::Stop& stop);
  bool WorkOff(const ClockControl::Stop& stop);
  // Something outside is under way (a commit on disk, a call to another server): waits for it in the world's time.
  void WaitForOutside();

  Runtime runtime_;
  ClockControl clock_;
  std::function<void()> after_piece_;
  std::function<void(bool)> on_rest_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace terrarium::testbed
