#include "testbed/runtime/instance_executor.h"

#include <gtest/gtest.h>

#include "testbed/runtime/simulation.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;

class InstanceExecutorTest : public testing::Test {
 protected:
  Simulation simulation{api::Time(1'767'225'600s), 1};
  ClockControl& clock = simulation.clock();
  api::Executor& lane = simulation.runtime().Lane("component");
  InstanceExecutor first{lane, simulation.runtime()};
  InstanceExecutor second{lane, simulation.runtime()};
  std::string ran;
};

TEST_F(InstanceExecutorTest, WorkOfAllRunsGoesInTheOrderPosted) {
  for (int i = 0; i < 3; ++i) {
    first.Post([this] { ran += "1"; });
    second.Post([this] { ran += "2"; });
  }
  first.PostAfter(2s, [this] { ran += "a"; });
  second.PostAfter(1s, [this] { ran += "b"; });
  clock.Advance(3s);
  EXPECT_EQ(ran, "121212ba");
}

TEST_F(InstanceExecutorTest, NothingOfARunBeginsAfterItsEnd) {
  first.Post([this] { ran += "posted "; });
  first.PostAfter(1s, [this] { ran += "timer "; });
  first.PostInBackground(1s, [this] { ran += "housekeeping "; });
  second.Post([this] { ran += "other "; });
  first.End();
  first.Post([this] { ran += "late "; });
  EXPECT_EQ(first.PostAfter(1s, [this] { ran += "late timer "; }), 0u);
  EXPECT_FALSE(simulation.runtime().NextTimer().has_value());
  clock.Advance(5s);
  EXPECT_EQ(ran, "other ");
}

TEST_F(InstanceExecutorTest, APieceMayEndItsOwnRun) {
  first.Post([this] {
    ran += "last ";
    first.End();
  });
  first.Post([this] { ran += "never "; });
  clock.Settle();
  EXPECT_EQ(ran, "last ");
}

TEST_F(InstanceExecutorTest, WhatATimerHoldsGoesWithTheRun) {
  auto held = std::make_shared<int>();
  first.PostAfter(1h, [held] {});
  EXPECT_EQ(held.use_count(), 2);
  first.End();
  EXPECT_EQ(held.use_count(), 1);
}

TEST_F(InstanceExecutorTest, ATimerIsCancelledOnceAndBeforeItsWorkBegins) {
  const api::TimerId id = first.PostAfter(1s, [this] { ran += "timer"; });
  first.PostAfter(1s, [this, id] { ran += first.Cancel(id) ? "cancelled " : "too late "; });
  clock.Advance(2s);
  EXPECT_TRUE(ran == "cancelled " || ran == "timertoo late ") << ran;
  EXPECT_FALSE(first.Cancel(id));
}

TEST_F(InstanceExecutorTest, TimersOfWorkCanBecomeHousekeepingAndWorkAgain) {
  first.PostAfter(10s, [this] { ran += "before "; });
  first.SetHousekeepingOnly(true);
  first.PostAfter(20s, [this] { ran += "meanwhile "; });
  first.PostInBackground(40s, [this] { ran += "beat "; });
  EXPECT_FALSE(simulation.runtime().NextWorkTimer().has_value());
  EXPECT_EQ(clock.RunUntilIdle(1h).why, RunOutcome::Why::kIdle);
  clock.Advance(15s);
  EXPECT_EQ(ran, "before ");  // it fires nevertheless
  first.SetHousekeepingOnly(false);
  EXPECT_EQ(simulation.runtime().NextWorkTimer(), api::Time(1'767'225'620s));
  EXPECT_EQ(clock.RunUntilIdle(1h).why, RunOutcome::Why::kIdle);
  EXPECT_EQ(ran, "before meanwhile ");
}

}  // namespace
}  // namespace terrarium::testbed
