#include "testbed/runtime/clock_control.h"

#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/repeating_timer.h"
#include "testbed/runtime/simulation.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using Why = RunOutcome::Why;

constexpr api::Time kStart{std::chrono::hours(1)};
// The limit of work per instant, small so that tests of it are quick.
constexpr std::int64_t kFew = 20'000;

class ClockControlTest : public ::testing::Test {
 protected:
  api::Executor& lane() { return simulation.runtime().Lane("a"); }
  ClockControl& clock() { return simulation.clock(); }
  void Note(const std::string& what) {
    log.push_back(what + "@" + std::to_string((simulation.runtime().Now() - kStart) / 1s));
  }

  Simulation simulation{kStart, 7};
  std::vector<std::string> log;
};

TEST_F(ClockControlTest, AllConsequencesOfATimerAreProcessedBeforeTheNextOneFires) {
  lane().PostAfter(1s, [this] {
    Note("first");
    simulation.runtime().Lane("b").Post([this] {
      Note("consequence");
      lane().Post([this] { Note("and of that"); });
    });
  });
  lane().PostAfter(2s, [this] { Note("second"); });
  RunOutcome outcome = clock().Advance(10s);
  EXPECT_THAT(log, ElementsAre("first@1", "consequence@1", "and of that@1", "second@2"));
  EXPECT_EQ(outcome.now, kStart + 10s);
  EXPECT_EQ(outcome.timers_fired, 2);
}

// A check of every period that repeats for as long as the test lasts.
class Check {
 public:
  Check(Simulation& simulation, api::Duration period) : simulation_(simulation), period_(period) { Wait(); }
  // Posts the next occurrences as ordinary background timers.
  void FollowUp() { follow_up_ = true; }
  const std::vector<std::int64_t>& seconds() const { return seconds_; }

 private:
  void Wait() {
    auto occur = [this] {
      seconds_.push_back((simulation_.runtime().Now() - kStart) / 1s);
      Wait();
    };
    api::Executor& lane = simulation_.runtime().Lane("checks");
    if (follow_up_) {
      lane.PostInBackground(period_, occur);
    } else {
      api::PostRepeating(lane, period_, period_, occur);
    }
  }

  Simulation& simulation_;
  api::Duration period_;
  bool follow_up_ = false;
  std::vector<std::int64_t> seconds_;
};

TEST_F(ClockControlTest, AMoveSkipsRepeatsButThoseAtItsBeginningAndItsEnd) {
  Check often(simulation, 5s), seldom(simulation, 20s);
  clock().Advance(1h + 3s);
  EXPECT_THAT(often.seconds(), ElementsAre(5, 10, 15, 20, 25, 30, 35, 3595, 3600));
  EXPECT_THAT(seldom.seconds(), ElementsAre(20, 3600));
}

TEST_F(ClockControlTest, RepeatsAreNotSkippedAroundAnotherTimer) {
  Check often(simulation, 5s);
  lane().PostInBackground(1000s, [this] { Note("timer"); });
  clock().Advance(1h);
  EXPECT_THAT(log, ElementsAre("timer@1000"));
  EXPECT_THAT(often.seconds(), ElementsAre(5, 10, 15, 20, 25, 30, 35, 990, 995, 1000, 1005, 1010, 1015, 1020,
                                           1025, 1030, 1035, 3590, 3595, 3600));
}

TEST_F(ClockControlTest, ACheckThatFollowsUpIsNotSkipped) {
  Check check(simulation, 5s);
  check.FollowUp();
  clock().Advance(1h);
  EXPECT_EQ(check.seconds().size(), 720u);
}

TEST_F(ClockControlTest, NoRepeatIsSkippedWhileItCouldBeObserved) {
  Check check(simulation, 5s);
  {
    auto hold = simulation.runtime().HoldSkips();
    clock().Advance(1h);
  }
  EXPECT_EQ(check.seconds().size(), 720u);
  clock().Advance(1h);
  EXPECT_LT(check.seconds().size(), 740u);
}

TEST_F(ClockControlTest, AnAdvanceThatMayBeStoppedSkipsRepeatsToo) {
  Check check(simulation, 5s);
  lane().PostInBackground(1800s, [this] { Note("timer"); });
  const RunOutcome outcome = clock().Advance(1h, [this] { return !log.empty(); });
  EXPECT_EQ(outcome.why, Why::kDone);
  EXPECT_EQ(outcome.now, kStart + 1800s);
  EXPECT_LT(check.seconds().size(), 15u);
  EXPECT_EQ(clock().Advance(1h, [] { return true; }).now, kStart + 1800s);
}

TEST_F(ClockControlTest, AConditionIsCheckedAtEveryRepeat) {
  Check check(simulation, 5s);
  EXPECT_EQ(clock().RunUntil([&] { return check.seconds().size() == 200; }, 1h).now, kStart + 1000s);
}

TEST_F(ClockControlTest, RunUntilIdleSkipsRepeatsOnTheWayToWork) {
  Check check(simulation, 5s);
  lane().PostAfter(10h, [this] { Note("work"); });
  EXPECT_EQ(clock().RunUntilIdle(24h).why, Why::kIdle);
  EXPECT_THAT(log, ElementsAre("work@36000"));
  EXPECT_LT(check.seconds().size(), 12u);
}

TEST_F(ClockControlTest, TimersSetOnTheWayFireOnTheWay) {
  lane().PostAfter(1s, [this] { lane().PostAfter(1s, [this] { Note("child"); }); });
  clock().Advance(3s);
  EXPECT_THAT(log, ElementsAre("child@2"));
}

TEST_F(ClockControlTest, ATimerExactlyAtTheEndFires) {
  lane().PostAfter(5s, [this] { Note("end"); });
  clock().Advance(5s);
  EXPECT_THAT(log, ElementsAre("end@5"));
}

TEST_F(ClockControlTest, NextTimerStopsAtItsInstant) {
  lane().PostInBackground(4s, [this] { Note("housekeeping"); });
  lane().PostAfter(6s, [this] { Note("work"); });
  EXPECT_EQ(clock().AdvanceToNextTimer().now, kStart + 4s);
  EXPECT_EQ(clock().AdvanceToNextTimer().now, kStart + 6s);
  EXPECT_EQ(clock().AdvanceToNextTimer().why, Why::kNoTimer);
  EXPECT_THAT(log, ElementsAre("housekeeping@4", "work@6"));
}

TEST_F(ClockControlTest, RunUntilIdleEndsWhenItsConditionHolds) {
  lane().PostAfter(1s, [this] { Note("first"); });
  lane().PostAfter(2s, [this] { Note("second"); });
  RunOutcome outcome = clock().RunUntilIdle(1min, [this] { return log.size() == 1; });
  EXPECT_EQ(outcome.why, Why::kDone);
  EXPECT_EQ(outcome.now, kStart + 1s);
  EXPECT_FALSE(simulation.runtime().Idle()) << "the second timer is work";
  EXPECT_EQ(clock().RunUntilIdle(1min, [] { return false; }).why, Why::kIdle);
  EXPECT_THAT(log, ElementsAre("first@1", "second@2"));
  EXPECT_TRUE(simulation.runtime().Idle());
}

TEST_F(ClockControlTest, IdleMeansThatOnlyHousekeepingIsLeft) {
  std::function<void()> beat = [&] {
    Note("beat");
    lane().PostInBackground(10s, beat);
  };
  lane().PostInBackground(10s, beat);
  lane().PostAfter(25s, [this] { Note("work"); });
  RunOutcome outcome = clock().RunUntilIdle(1h);
  EXPECT_EQ(outcome.why, Why::kIdle);
  EXPECT_EQ(outcome.now, kStart + 25s) << "the clock stands where the last work was done";
  EXPECT_THAT(log, ElementsAre("beat@10", "beat@20", "work@25"));
}

TEST_F(ClockControlTest, RunUntilIdleGivesUpAtItsLimit) {
  std::function<void()> again = [&] { lane().PostAfter(10s, again); };
  lane().PostAfter(10s, again);
  lane().PostInBackground(14s, [this] { Note("housekeeping"); });
  RunOutcome outcome = clock().RunUntilIdle(15s);
  EXPECT_EQ(outcome.why, Why::kDeadline);
  EXPECT_EQ(outcome.now, kStart + 15s);
  EXPECT_THAT(log, ElementsAre("housekeeping@14"));
}

TEST_F(ClockControlTest, RunUntilStopsWithinTheInstantAtWhichTheConditionHolds) {
  int steps = 0;
  lane().PostAfter(3s, [&] {
    for (int i = 0; i < 5; ++i) lane().Post([&] { ++steps; });
  });
  RunOutcome outcome = clock().RunUntil([&] { return steps == 2; }, 1min);
  EXPECT_EQ(outcome.why, Why::kDone);
  EXPECT_EQ(outcome.now, kStart + 3s);
  EXPECT_EQ(steps, 2) << "what else is ready waits";
}

TEST_F(ClockControlTest, RunUntilReportsThatTheDeadlinePassed) {
  RunOutcome outcome = clock().RunUntil([] { return false; }, 1min);
  EXPECT_EQ(outcome.why, Why::kDeadline);
  EXPECT_EQ(outcome.now, kStart + 1min);
}

TEST_F(ClockControlTest, SettingTheModeEndsAMove) {
  lane().PostAfter(3s, [this] { simulation.runtime().SetMode({ClockMode::Kind::kVirtual, 1}); });
  lane().PostAfter(5s, [this] { Note("later"); });
  RunOutcome outcome = clock().Advance(1h);
  EXPECT_EQ(outcome.why, Why::kStopped);
  EXPECT_EQ(outcome.now, kStart + 3s);
  EXPECT_TRUE(log.empty());
}

TEST_F(ClockControlTest, TimeEndsWithTheYear9999) {
  lane().PostAfter(api::Duration::max(), [this] { Note("never"); });
  EXPECT_EQ(clock().RunUntilIdle(api::Duration::max()).why, Why::kIdle);
  EXPECT_EQ(clock().AdvanceToNextTimer().why, Why::kNoTimer);
  lane().PostAfter(kLastTime - kStart, [this] { log.push_back("last"); });
  RunOutcome outcome = clock().Advance(api::Duration::max());
  EXPECT_EQ(outcome.why, Why::kDeadline);
  EXPECT_EQ(outcome.now, kLastTime);
  EXPECT_EQ(api::FormatMicroTime(outcome.now), "9999-12-31T23:59:59.999999Z");
  EXPECT_THAT(log, ElementsAre("last"));
  EXPECT_EQ(clock().Advance(1s).why, Why::kDeadline);
  EXPECT_EQ(clock().Advance(0s).why, Why::kDone);
}

TEST_F(ClockControlTest, RunUntilThatHoldsAlreadyRunsNothing) {
  lane().Post([this] { Note("work"); });
  EXPECT_EQ(clock().RunUntil([] { return true; }, 1min).why, Why::kDone);
  EXPECT_TRUE(log.empty());
}

TEST_F(ClockControlTest, WorkThatNeverEndsAtOneInstantIsBusy) {
  api::Executor& livelocked = simulation.runtime().Lane("livelocked");
  simulation.runtime().SetInstantPieces([] { return kFew; });
  std::function<void()> again = [&] { livelocked.Post(again); };
  lane().PostAfter(1s, [&] { livelocked.Post(again); });
  RunOutcome outcome = clock().Advance(10s);
  EXPECT_EQ(outcome.why, Why::kBusy);
  EXPECT_EQ(outcome.now, kStart + 1s);
  EXPECT_EQ(outcome.busiest, "livelocked");
  EXPECT_EQ(clock().Settle().why, Why::kBusy);
  EXPECT_EQ(clock().AdvanceToNextTimer().why, Why::kBusy);
  EXPECT_EQ(clock().RunUntilIdle(1h).why, Why::kBusy);
  EXPECT_EQ(clock().RunUntil([] { return false; }, 1h).why, Why::kBusy);
}

TEST_F(ClockControlTest, TimersThatAreAlwaysDueImmediatelyAreBusy) {
  simulation.runtime().SetInstantPieces([] { return kFew; });
  std::function<void()> again = [&] { lane().PostAfter(0s, again); };
  lane().PostAfter(1s, again);
  RunOutcome outcome = clock().Advance(10s);
  EXPECT_EQ(outcome.why, Why::kBusy);
  EXPECT_EQ(outcome.now, kStart + 1s);
}

TEST_F(ClockControlTest, EveryInstantMayHaveAsMuchWorkAsAnother) {
  simulation.runtime().SetInstantPieces([] { return kFew; });
  constexpr std::int64_t kInstants = 4;
  std::int64_t ran = 0;
  for (int instant = 1; instant <= kInstants; ++instant)
    lane().PostAfter(instant * 1s, [&] {
      for (std::int64_t i = 0; i < kFew / 2; ++i) lane().Post([&ran] { ++ran; });
    });
  EXPECT_EQ(clock().Advance(10s).why, Why::kDone);
  EXPECT_EQ(ran, kInstants * (kFew / 2));
}

TEST_F(ClockControlTest, ALargeClusterMayDoMore) {
  std::int64_t allowed = 20'000;
  simulation.runtime().SetInstantPieces([&allowed] { return allowed; });
  for (int i = 0; i < 21'000; ++i) lane().Post([] {});
  EXPECT_EQ(clock().Settle().why, Why::kBusy);
  for (int i = 0; i < 21'000; ++i) lane().Post([] {});
  allowed = 22'000;
  EXPECT_EQ(clock().Settle().why, Why::kDone);
}

}  // namespace
}  // namespace terrarium::testbed
