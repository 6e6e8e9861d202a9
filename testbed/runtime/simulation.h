#pragma once

// Runs a control plane's runtime on the caller's thread, in an order drawn from the seed.

#include <condition_variable>
#include <functional>
#include <mutex>

#include "testbed/runtime/clock_control.h"
#include "testbed/runtime/runtime.h"

namespace terrarium::testbed {

class Simulation {
 public:
  Simulation(api::Time start, std::uint64_t seed);

  Runtime& runtime() { return runtime_; }
  ClockControl& clock() { return clock_; }
  // Calls `callback` after every piece of work, while no other piece is running.
  void SetAfterPiece(std::function<void()> callback) { after_piece_ = std::move(callback); }
  // Calls `callback` each time the ready work has been run. `idle`: only background timers are left.
  void SetOnRest(std::function<void(bool idle)> callback) { on_rest_ = std::move(callback); }

 private:
  ClockControl::Rest Settle(const ClockControl::Stop& stop);
  ClockControl::Rest WorkOff(const ClockControl::Stop& stop);
  // Waits in wall-clock time for an outside operation (a commit on disk, a call to another server).
  void WaitForOutside();

  Runtime runtime_;
  ClockControl clock_;
  std::function<void()> after_piece_;
  std::function<void(bool)> on_rest_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace terrarium::testbed
