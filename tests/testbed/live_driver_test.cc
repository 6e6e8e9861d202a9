#include <functional>
#include <future>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "testbed/real_driver.h"
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

TEST(LivePool, RunsManyPlanesOnAFewThreads) {
  constexpr int kPlanes = 100;
  LivePool pool(2);
  struct OnePlane {
    explicit OnePlane(LivePool& pool, ClockMode::Kind kind)
        : runtime({.start = kStart, .mode = {kind, 1}, .wall = WallTime}), driver(runtime, pool) {}
    Runtime runtime;
    LiveDriver driver;
    std::promise<RunOutcome> moved;
    int fired = 0;
  };
  std::vector<std::unique_ptr<OnePlane>> planes;
  for (int i = 0; i < kPlanes; ++i) {
    planes.push_back(std::make_unique<OnePlane>(pool, i % 2 == 0 ? ClockMode::Kind::kVirtual : ClockMode::Kind::kAuto));
    OnePlane& plane = *planes.back();
    for (int hour = 0; hour < 5; ++hour)
      plane.runtime.Lane("a").PostAfter(hour * 1h, [&plane] { ++plane.fired; });
    plane.driver.Control([&plane](ClockControl& clock) { plane.moved.set_value(clock.RunUntilIdle(24h)); });
  }
  for (auto& plane : planes) {
    EXPECT_EQ(plane->moved.get_future().get().why, Why::kIdle);
    EXPECT_EQ(plane->fired, 5);
    // Later when one that jumps by itself has done so between two of the posts.
    EXPECT_GE(plane->runtime.Now(), kStart + 4h);
  }
}

TEST(LivePool, OnePlaneIsTakenAwayWhileTheOthersGoOn) {
  LivePool pool(2);
  Runtime stays({.start = kStart, .mode = {ClockMode::Kind::kVirtual, 1}, .wall = WallTime});
  LiveDriver driver(stays, pool);
  for (int round = 0; round < 200; ++round) {
    auto goes = std::make_unique<Runtime>(
        RuntimeOptions{.start = kStart, .mode = {ClockMode::Kind::kAuto, 1}, .wall = WallTime});
    auto its_driver = std::make_unique<LiveDriver>(*goes, pool);
    std::function<void()> again = [&] { goes->Lane("a").PostAfter(1s, again); };  // works for ever
    goes->Lane("a").Post(again);
    std::promise<void> ran;
    stays.Lane("a").Post([&ran] { ran.set_value(); });
    ran.get_future().get();
    its_driver->Stop();
    its_driver = nullptr;
    goes = nullptr;
  }
}

TEST(LiveDriver, WaitsForWhatIsUnderWayOutside) {
  Runtime runtime({.start = kStart, .mode = {ClockMode::Kind::kVirtual, 1}, .wall = WallTime});
  LiveDriver driver(runtime, 1);
  auto outside = std::make_unique<api::OutsideWork>(runtime.Lane("a"));
  driver.Stop();
  EXPECT_FALSE(driver.WaitForOutside(1ms));
  auto ends = std::async(std::launch::async, [&] { outside = nullptr; });
  EXPECT_TRUE(driver.WaitForOutside(20s));
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
