#include <future>
#include <mutex>
#include <string>

#include <gtest/gtest.h>

#include "testbed/real_runtime.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using Why = RunOutcome::Why;

constexpr api::Time kStart{std::chrono::hours(1)};

TEST(LiveDriver, AVirtualClockStandsStillUntilItIsAdvanced) {
  Runtime runtime({.start = kStart, .mode = {ClockMode::Kind::kVirtual, 1}, .wall = WallTime});
  LiveDriver driver(runtime, 2);
  std::promise<api::Time> fired;
  runtime.Lane("a").PostAfter(30min, [&] { fired.set_value(runtime.Now()); });
  std::promise<RunOutcome> moved;
  driver.Control([&](ClockControl& clock) { moved.set_value(clock.Advance(1h)); });
  EXPECT_EQ(fired.get_future().get(), kStart + 30min);
  EXPECT_EQ(moved.get_future().get().now, kStart + 1h);
  EXPECT_EQ(runtime.Now(), kStart + 1h);
}

TEST(LiveDriver, AnAutomaticClockJumpsFromTimerToTimer) {
  Runtime runtime({.start = kStart, .mode = {ClockMode::Kind::kAuto, 1}, .wall = WallTime});
  LiveDriver driver(runtime, 2);
  std::promise<api::Time> fired;
  runtime.Lane("a").PostAfter(1h, [&] {
    runtime.Lane("b").PostAfter(1h, [&] { fired.set_value(runtime.Now()); });
  });
  EXPECT_EQ(fired.get_future().get(), kStart + 2h);
}

TEST(LiveDriver, AScaledClockFiresTimersSooner) {
  Runtime runtime({.start = kStart, .mode = {ClockMode::Kind::kScaled, 100'000}, .wall = WallTime});
  LiveDriver driver(runtime, 2);
  std::promise<api::Time> fired;
  runtime.Lane("a").PostAfter(20min, [&] { fired.set_value(runtime.Now()); });
  EXPECT_GE(fired.get_future().get(), kStart + 20min);
}

TEST(LiveDriver, LanesRunAtOnceButEachOnePieceAtATime) {
  Runtime runtime({.start = kStart, .mode = {ClockMode::Kind::kVirtual, 1}, .wall = WallTime});
  LiveDriver driver(runtime, 2);
  int of_a = 0, of_b = 0;  // each written by its own lane only, without a lock
  for (int i = 0; i < 10'000; ++i) {
    runtime.Lane("a").Post([&of_a] { ++of_a; });
    runtime.Lane("b").Post([&of_b] { ++of_b; });
  }
  std::promise<RunOutcome> settled;
  driver.Control([&](ClockControl& clock) { settled.set_value(clock.Settle()); });
  EXPECT_EQ(settled.get_future().get().why, Why::kDone);
  EXPECT_EQ(of_a, 10'000);
  EXPECT_EQ(of_b, 10'000);
}

TEST(LiveDriver, StoppingEndsAControlThatWaits) {
  Runtime runtime({.start = kStart, .mode = {ClockMode::Kind::kVirtual, 1}, .wall = WallTime});
  auto driver = std::make_unique<LiveDriver>(runtime, 1);
  api::OutsideWork never_ends(runtime.Lane("a"));
  std::promise<Why> why;
  driver->Control([&](ClockControl& clock) { why.set_value(clock.Advance(1h).why); });
  driver->Stop();
  auto answer = why.get_future();
  // Stopped before it began, or ended as one that does not come to rest.
  bool began = answer.wait_for(0s) == std::future_status::ready;
  EXPECT_TRUE(!began || answer.get() == Why::kBusy);
}

}  // namespace
}  // namespace terrarium::testbed
