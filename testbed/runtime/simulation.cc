#include "testbed/runtime/simulation.h"

namespace terrarium::testbed {

Simulation::Simulation(api::Time start, std::uint64_t seed)
    : runtime_({.start = start, .seed = seed, .seeded_order = true, .mode = {ClockMode::Kind::kVirtual, 1}}),
      clock_(runtime_, [this](const ClockControl::Stop& stop) { return Settle(stop); }) {
  runtime_.SetNotify([this](Runtime::Signal) {
    // Under the lock, so that a waiter has either not yet checked its condition or is already waiting.
    std::lock_guard lock(mutex_);
    changed_.notify_all();
  });
}

ClockControl::Rest Simulation::Settle(const ClockControl::Stop& stop) {
  ClockControl::Rest rest = WorkOff(stop);
  if (on_rest_) on_rest_(runtime_.Idle());
  return rest;
}

ClockControl::Rest Simulation::WorkOff(const ClockControl::Stop& stop) {
  const std::uint64_t mode_changes = runtime_.mode_changes();
  while (!runtime_.Overrun()) {
    auto piece = runtime_.TakeReady();
    if (!piece) {
      if (runtime_.Quiet()) return ClockControl::Rest::kQuiet;
      WaitForOutside();
      continue;
    }
    piece->work();
    piece->work = nullptr;
    runtime_.Finished(*piece);
    if (after_piece_) after_piece_();
    if ((stop && stop()) || runtime_.mode_changes() != mode_changes) return ClockControl::Rest::kStopped;
  }
  return ClockControl::Rest::kBusy;
}

void Simulation::WaitForOutside() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !runtime_.OutsideUnderWay() || runtime_.HasReady(); });
}

}  // namespace terrarium::testbed
