#include "testbed/simulation.h"

namespace terrarium::testbed {

Simulation::Simulation(api::Time start, std::uint64_t seed)
    : runtime_({.start = start, .seed = seed, .seeded_order = true, .mode = {ClockMode::Kind::kVirtual, 1}}),
      clock_(runtime_, [this](const ClockControl::Stop& stop) { return Settle(stop); }) {
  runtime_.SetNotify([this](Runtime::Signal) {
    // Under the lock, so that a waiter is either before its look or already waiting.
    std::lock_guard lock(mutex_);
    changed_.notify_all();
  });
}

bool Simulation::Settle(const ClockControl::Stop& stop) {
  bool rests = WorkOff(stop);
  if (on_rest_) on_rest_(runtime_.Quiet() && !runtime_.NextWorkTimer());
  return rests;
}

bool Simulation::WorkOff(const ClockControl::Stop& stop) {
  for (std::int64_t steps = 0; steps < kStepsMax; ++steps) {
    auto piece = runtime_.TakeReady();
    if (!piece) {
      if (runtime_.Quiet()) return true;
      WaitForOutside();
      continue;
    }
    piece->work();
    piece->work = nullptr;
    runtime_.Finished(*piece);
    if (after_piece_) after_piece_();
    if (stop && stop()) return true;
  }
  return false;
}

void Simulation::WaitForOutside() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !runtime_.OutsideUnderWay() || runtime_.HasReady(); });
}

}  // namespace terrarium::testbed
