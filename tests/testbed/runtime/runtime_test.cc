#include "testbed/runtime/runtime.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

constexpr api::Time kStart{std::chrono::hours(1)};

Runtime MakeSimulated(std::uint64_t seed) {
  return Runtime(
      {.start = kStart, .seed = seed, .seeded_order = true, .mode = {ClockMode::Kind::kVirtual, 1}});
}

void RunAll(Runtime& runtime) {
  while (auto piece = runtime.TakeReady()) {
    piece->work();
    runtime.Finished(*piece);
  }
}

TEST(ClockMode, FormatsAsItWasParsed) {
  for (const char* text : {"real", "virtual", "auto", "scaled=1000", "scaled=0.5"})
    EXPECT_EQ(ClockMode::Parse(text)->String(), text);
}

TEST(ClockMode, RefusesWhatItDoesNotKnow) {
  for (const char* text :
       {"", "fast", "scaled", "scaled=", "scaled=0", "scaled=-1", "scaled=x", "scaled=1e9"})
    EXPECT_FALSE(ClockMode::Parse(text).ok()) << text;
}

TEST(Runtime, WorkOfOneLaneKeepsItsOrderAndLanesInterleaveBySeed) {
  auto order_of = [](std::uint64_t seed) {
    Runtime runtime = MakeSimulated(seed);
    std::string order;
    for (int i = 0; i < 8; ++i) {
      runtime.Lane("a").Post([&order] { order += 'a'; });
      runtime.Lane("b").Post([&order] { order += 'b'; });
    }
    std::vector<int> of_a;
    for (int i = 0; i < 8; ++i) runtime.Lane("a").Post([&of_a, i] { of_a.push_back(i); });
    RunAll(runtime);
    EXPECT_THAT(of_a, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    return order;
  };
  EXPECT_EQ(order_of(1), order_of(1));
  EXPECT_NE(order_of(1), order_of(2));
}

TEST(Runtime, AFastClockStopsAtTheEndOfTime) {
  static std::chrono::nanoseconds wall{};
  Runtime runtime({.start = kStart, .mode = {ClockMode::Kind::kScaled, 1e6}, .wall = [] { return wall; }});
  wall += std::chrono::hours(24 * 365 * 100);
  EXPECT_EQ(runtime.Now(), kLastTime);
  runtime.Lane("a").PostAfter(1s, [] {});
  EXPECT_FALSE(runtime.NextTimer());
}

TEST(Runtime, ALaneRunsOnePieceAtATime) {
  Runtime runtime = MakeSimulated(1);
  runtime.Lane("a").Post([] {});
  runtime.Lane("a").Post([] {});
  auto first = runtime.TakeReady();
  ASSERT_TRUE(first);
  EXPECT_FALSE(runtime.TakeReady()) << "the lane is busy";
  runtime.Finished(*first);
  EXPECT_TRUE(runtime.TakeReady());
}

TEST(Runtime, TimersFireAtTheirInstantAndNotBefore) {
  Runtime runtime = MakeSimulated(1);
  api::Time fired{};
  runtime.Lane("a").PostAfter(5s, [&] { fired = runtime.Now(); });
  EXPECT_FALSE(runtime.FireNext(kStart + 4s));
  EXPECT_EQ(runtime.Now(), kStart);
  EXPECT_TRUE(runtime.FireNext(kStart + 9s));
  RunAll(runtime);
  EXPECT_EQ(fired, kStart + 5s);
}

TEST(Runtime, ACancelledTimerNeverRunsEvenWhenItIsDueAlready) {
  Runtime runtime = MakeSimulated(1);
  bool ran = false;
  api::TimerId waiting = runtime.Lane("a").PostAfter(1s, [&] { ran = true; });
  EXPECT_TRUE(runtime.Lane("a").Cancel(waiting));
  EXPECT_FALSE(runtime.Lane("a").Cancel(waiting));
  api::TimerId due = runtime.Lane("a").PostAfter(1s, [&] { ran = true; });
  ASSERT_TRUE(runtime.FireNext(kStart + 1s));
  EXPECT_TRUE(runtime.Lane("a").Cancel(due)) << "fired, but its work has not begun";
  RunAll(runtime);
  EXPECT_FALSE(ran);
  EXPECT_TRUE(runtime.Quiet());
}

TEST(Runtime, OutsideWorkKeepsItFromBeingQuiet) {
  Runtime runtime = MakeSimulated(1);
  {
    api::OutsideWork outside(runtime.Lane("a"));
    EXPECT_FALSE(runtime.Quiet());
    api::OutsideWork moved = std::move(outside);
    EXPECT_TRUE(runtime.OutsideUnderWay());
  }
  EXPECT_TRUE(runtime.Quiet());
}

TEST(Runtime, HousekeepingTimersAreNotWork) {
  Runtime runtime = MakeSimulated(1);
  runtime.Lane("a").PostInBackground(1s, [] {});
  EXPECT_EQ(runtime.NextTimer(), kStart + 1s);
  EXPECT_EQ(runtime.NextWorkTimer(), std::nullopt);
  runtime.Lane("a").PostAfter(2s, [] {});
  EXPECT_EQ(runtime.NextWorkTimer(), kStart + 2s);
}

TEST(Runtime, AScaledClockRunsNTimesAsFastAndGoesOnWhereTheOldModeStood) {
  std::chrono::nanoseconds wall = 0ns;
  Runtime runtime(
      {.start = kStart, .mode = {ClockMode::Kind::kScaled, 1000}, .wall = [&wall] { return wall; }});
  wall = 2ms;
  EXPECT_EQ(runtime.Now(), kStart + 2s);
  runtime.Lane("a").PostAfter(1s, [] {});
  EXPECT_EQ(runtime.WallUntilNextTimer(), 1ms);
  runtime.SetMode({ClockMode::Kind::kVirtual, 1});
  wall = 50ms;
  EXPECT_EQ(runtime.Now(), kStart + 2s);
  runtime.SetMode({ClockMode::Kind::kReal, 1});
  wall = 51ms;
  EXPECT_EQ(runtime.Now(), kStart + 2s + 1ms);
}

TEST(Runtime, AScaledClockDoesNotPassATimerThatHasNotFired) {
  std::chrono::nanoseconds wall = 0ns;
  Runtime runtime(
      {.start = kStart, .mode = {ClockMode::Kind::kScaled, 1000}, .wall = [&wall] { return wall; }});
  runtime.Lane("a").PostAfter(10s, [] {});
  runtime.Lane("a").PostAfter(20s, [] {});
  wall = 1s;
  EXPECT_EQ(runtime.Now(), kStart + 10s);
  EXPECT_TRUE(runtime.FireNext(runtime.Now()));
  EXPECT_EQ(runtime.Now(), kStart + 20s);
  EXPECT_TRUE(runtime.FireNext(runtime.Now()));
  EXPECT_EQ(runtime.Now(), kStart + 1000s);
}

TEST(Runtime, CanBeginAtALaterTimeAndNeverGoesBack) {
  std::chrono::nanoseconds wall = 0ns;
  Runtime runtime({.start = kStart, .mode = {ClockMode::Kind::kReal, 1}, .wall = [&wall] { return wall; }});
  runtime.NotBefore(kStart + 1h);
  wall = 1s;
  EXPECT_EQ(runtime.Now(), kStart + 1h + 1s);
  runtime.NotBefore(kStart);
  EXPECT_EQ(runtime.Now(), kStart + 1h + 1s);
}

TEST(Runtime, AfterShutdownNothingRunsAndNothingIsTaken) {
  Runtime runtime = MakeSimulated(1);
  bool ran = false;
  runtime.Lane("a").Post([&] { ran = true; });
  runtime.Lane("a").PostAfter(1s, [&] { ran = true; });
  runtime.Shutdown();
  runtime.Lane("a").Post([&] { ran = true; });
  EXPECT_FALSE(runtime.TakeReady());
  EXPECT_FALSE(runtime.FireNext(kStart + 1h));
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace terrarium::testbed
