#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "testbed/runtime/real_driver.h"
#include "testbed/runtime/real_runtime.h"

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
  runtime.Lane("a").PostAfter(
      1h, [&] { runtime.Lane("b").PostAfter(1h, [&] { fired.set_value(runtime.Now()); }); });
  EXPECT_EQ(fired.get_future().get(), kStart + 2h);
}

TEST(LiveDriver, AScaledClockFiresTimersSooner) {
  Runtime runtime({.start = kStart, .mode = {ClockMode::Kind::kScaled, 100'000}, .wall = WallTime});
  LiveDriver driver(runtime, 2);
  std::promise<api::Time> fired;
  runtime.Lane("a").PostAfter(20min, [&] { fired.set_value(runtime.Now()); });
  EXPECT_GE(fired.get_future().get(), kStart + 20min);
}

TEST(LiveDriver, LanesRunInParallelButEachOnePieceAtATime) {
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

TEST(LivePool, RunsManyRuntimesOnAFewThreads) {
  constexpr int kRuntimes = 100;
  LivePool pool(2);
  struct OneRuntime {
    explicit OneRuntime(LivePool& pool, ClockMode::Kind kind)
        : runtime({.start = kStart, .mode = {kind, 1}, .wall = WallTime}), driver(runtime, pool) {}
    Runtime runtime;
    LiveDriver driver;
    std::promise<RunOutcome> moved;
    int fired = 0;
  };
  std::vector<std::unique_ptr<OneRuntime>> runtimes;
  for (int i = 0; i < kRuntimes; ++i) {
    runtimes.push_back(
        std::make_unique<OneRuntime>(pool, i % 2 == 0 ? ClockMode::Kind::kVirtual : ClockMode::Kind::kAuto));
    OneRuntime& one = *runtimes.back();
    for (int hour = 0; hour < 5; ++hour) one.runtime.Lane("a").PostAfter(hour * 1h, [&one] { ++one.fired; });
    one.driver.Control([&one](ClockControl& clock) { one.moved.set_value(clock.RunUntilIdle(24h)); });
  }
  for (auto& one : runtimes) {
    EXPECT_EQ(one->moved.get_future().get().why, Why::kIdle);
    EXPECT_EQ(one->fired, 5);
    // Later if an automatic clock has jumped between two of the posts.
    EXPECT_GE(one->runtime.Now(), kStart + 4h);
  }
}

TEST(LivePool, OneRuntimeIsTakenAwayWhileTheOthersGoOn) {
  LivePool pool(2);
  Runtime stays({.start = kStart, .mode = {ClockMode::Kind::kVirtual, 1}, .wall = WallTime});
  LiveDriver driver(stays, pool);
  for (int round = 0; round < 200; ++round) {
    auto goes = std::make_unique<Runtime>(
        RuntimeOptions{.start = kStart, .mode = {ClockMode::Kind::kAuto, 1}, .wall = WallTime});
    auto its_driver = std::make_unique<LiveDriver>(*goes, pool);
    std::function<void()> again = [&] { goes->Lane("a").PostAfter(1s, again); };  // works forever
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
  // Stopped before it began, or interrupted.
  bool began = answer.wait_for(0s) == std::future_status::ready;
  EXPECT_TRUE(!began || answer.get() == Why::kEnded);
}

// Two components that answer each other forever at one instant.
class LivelockTest : public ::testing::Test {
 protected:
  LivelockTest() : driver(std::make_unique<LiveDriver>(runtime, 2)) {}
  ~LivelockTest() override { driver->Stop(); }

  void BeginLivelock() {
    ping = [this] {
      ++pings;
      runtime.Lane("b").Post(pong);
    };
    pong = [this] { runtime.Lane("a").Post(ping); };
    runtime.Lane("a").Post(ping);
  }
  std::future<RunOutcome> Advance(api::Duration duration,
                                  std::shared_ptr<api::CancelToken> cancelled = nullptr) {
    auto moved = std::make_shared<std::promise<RunOutcome>>();
    driver->Control([moved, duration](ClockControl& clock) { moved->set_value(clock.Advance(duration)); },
                    std::move(cancelled));
    return moved->get_future();
  }

  Runtime runtime{{.start = kStart, .mode = {ClockMode::Kind::kVirtual, 1}, .wall = WallTime}};
  // What the workers use outlives the driver: they work until it stops, after the test's body.
  std::function<void()> ping, pong;
  std::atomic<std::int64_t> pings = 0;
  std::unique_ptr<LiveDriver> driver;
};

TEST_F(LivelockTest, AMoveEndsAsBusy) {
  runtime.SetInstantPieces([] { return 20'000; });
  BeginLivelock();
  RunOutcome outcome = Advance(1s).get();
  EXPECT_EQ(outcome.why, Why::kBusy);
  EXPECT_EQ(outcome.now, kStart);
  EXPECT_TRUE(outcome.busiest == "a" || outcome.busiest == "b") << outcome.busiest;
}

TEST_F(LivelockTest, WithoutAClockMoveItGoesOnSlowly) {
  runtime.SetInstantPieces([] { return 20'000; });
  BeginLivelock();
  while (!runtime.IsLivelocked()) std::this_thread::yield();
  const auto began = WallTime();
  const std::int64_t before = pings;
  while (pings < before + 200) std::this_thread::yield();
  // Sixteen pieces of work of each of the two workers, then a pause of 5 ms. Every other piece is a ping.
  EXPECT_GE(WallTime() - began, 200 / 16 * 5ms / 2);
  driver->Stop();  // or the work that follows the request may be too much again
  EXPECT_TRUE(runtime.IsLivelocked());
  runtime.OnRequest();
  EXPECT_FALSE(runtime.IsLivelocked());
}

// Without a limit, as for a cluster that is large enough for any amount of work.
class UnboundedTest : public LivelockTest {
 protected:
  UnboundedTest() {
    runtime.SetInstantPieces([] { return std::int64_t{1} << 60; });
    BeginLivelock();
  }
};

TEST_F(UnboundedTest, SettingTheModeStopsAMove) {
  auto moved = Advance(1s);
  runtime.SetMode({ClockMode::Kind::kVirtual, 1});
  // The move may have begun after that. Then the next one stops it.
  while (moved.wait_for(1ms) != std::future_status::ready) runtime.SetMode({ClockMode::Kind::kVirtual, 1});
  EXPECT_EQ(moved.get().why, Why::kStopped);
}

TEST_F(UnboundedTest, AMoveEndsWithItsCaller) {
  auto gone = std::make_shared<api::CancelToken>();
  auto moved = Advance(1s, gone);
  auto waiting = Advance(1s, gone);
  gone->Cancel();
  EXPECT_EQ(moved.get().why, Why::kEnded);
  EXPECT_EQ(waiting.get().why, Why::kEnded);
  EXPECT_EQ(runtime.Now(), kStart);
}

TEST_F(UnboundedTest, TheEndOfMovesEndsIt) {
  auto moved = Advance(1s);
  driver->EndMoves();
  EXPECT_EQ(moved.get().why, Why::kEnded);
}

TEST_F(UnboundedTest, AMoveEndsWithinTheInstantAtWhichItsConditionHolds) {
  std::promise<RunOutcome> moved;
  int calls = 0;
  driver->Control(
      [&](ClockControl& clock) { moved.set_value(clock.RunUntil([&calls] { return ++calls > 100; }, 1h)); });
  RunOutcome outcome = moved.get_future().get();
  EXPECT_EQ(outcome.why, Why::kDone);
  EXPECT_EQ(outcome.now, kStart);
}

TEST(LiveDriver, AConditionThatHoldsEndsAMoveThatWaitsForSomethingOutside) {
  Runtime runtime({.start = kStart, .mode = {ClockMode::Kind::kVirtual, 1}, .wall = WallTime});
  LiveDriver driver(runtime, 1);
  api::OutsideWork outside(runtime.Lane("a"));
  std::atomic<bool> holds = false;
  std::promise<RunOutcome> moved;
  driver.Control(
      [&](ClockControl& clock) { moved.set_value(clock.RunUntil([&holds] { return holds.load(); }, 1h)); });
  runtime.Lane("b").Post([&holds] { holds = true; });
  EXPECT_EQ(moved.get_future().get().why, Why::kDone);
}

TEST(LiveDriver, AMoveThatWaitsForSomethingOutsideEndsWithItsCaller) {
  Runtime runtime({.start = kStart, .mode = {ClockMode::Kind::kVirtual, 1}, .wall = WallTime});
  LiveDriver driver(runtime, 1);
  auto outside = std::make_unique<api::OutsideWork>(runtime.Lane("a"));
  auto gone = std::make_shared<api::CancelToken>();
  std::promise<RunOutcome> first, second;
  driver.Control([&](ClockControl& clock) { first.set_value(clock.Advance(1h)); }, gone);
  driver.Control([&](ClockControl& clock) { second.set_value(clock.Advance(2h)); });
  gone->Cancel();
  EXPECT_EQ(first.get_future().get().why, Why::kEnded);
  outside = nullptr;
  EXPECT_EQ(second.get_future().get().now, kStart + 2h) << "the next one is not held up";
}

}  // namespace
}  // namespace terrarium::testbed
