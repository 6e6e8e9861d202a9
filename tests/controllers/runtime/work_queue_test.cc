#include "controllers/runtime/work_queue.h"

#include <gtest/gtest.h>

#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers {
namespace {

using api::TimerKind;
using controllers_testing::FakeRuntime;
using std::chrono::milliseconds;
using std::chrono::seconds;

ObjectName Key(const std::string& name) { return {"default", name}; }

class WorkQueueTest : public ::testing::Test {
 protected:
  // The names of the ready keys, in order. Each key is done as soon as it is handed out.
  std::string Drain() { return Drain(queue_); }
  static std::string Drain(WorkQueue& queue) {
    std::string names;
    while (auto key = queue.TryPop()) {
      names += key->name;
      queue.Done(*key);
    }
    return names;
  }
  // The retry delay of a key that fails now.
  api::Duration FailureDelay(WorkQueue& queue, const std::string& name) {
    queue.AddRateLimited(Key(name));
    api::Duration delay = runtime_.NextTimer(TimerKind::kWork).value_or(api::Duration::zero());
    runtime_.Advance(delay);
    Drain(queue);
    return delay;
  }
  bool HasMetric(const std::string& line) {
    return metrics_.Text().find("\n" + line + "\n") != std::string::npos;
  }

  FakeRuntime runtime_;
  Metrics metrics_;
  WorkQueue queue_{runtime_.env(), metrics_, "test"};
};

TEST_F(WorkQueueTest, HandsOutKeysInTheOrderOfTheirArrival) {
  EXPECT_EQ(queue_.TryPop(), std::nullopt);
  for (const char* name : {"c", "a", "b"}) queue_.Add(Key(name));
  EXPECT_EQ(queue_.depth(), 3u);
  EXPECT_EQ(Drain(), "cab");
  EXPECT_EQ(queue_.depth(), 0u);
}

TEST_F(WorkQueueTest, KeyIsReadyAtMostOnce) {
  for (const char* name : {"a", "b", "a", "a"}) queue_.Add(Key(name));
  EXPECT_EQ(Drain(), "ab");
}

TEST_F(WorkQueueTest, ReaddedWhileInFlightIsParkedUntilDone) {
  queue_.Add(Key("a"));
  ASSERT_EQ(queue_.TryPop(), Key("a"));
  queue_.Add(Key("a"));
  queue_.Add(Key("a"));
  queue_.Add(Key("b"));
  EXPECT_EQ(queue_.depth(), 1u);
  EXPECT_EQ(Drain(), "b");
  queue_.Done(Key("a"));
  EXPECT_EQ(Drain(), "a");
  EXPECT_EQ(Drain(), "");
}

TEST_F(WorkQueueTest, DelayedWhileInFlightIsParkedUntilDone) {
  queue_.Add(Key("a"));
  ASSERT_EQ(queue_.TryPop(), Key("a"));
  queue_.AddAfter(Key("a"), seconds(1));
  runtime_.Advance(seconds(2));
  EXPECT_EQ(queue_.TryPop(), std::nullopt);
  queue_.Done(Key("a"));
  EXPECT_EQ(Drain(), "a");
}

TEST_F(WorkQueueTest, DelayedKeyIsReadyAtItsTimeAndNotBefore) {
  queue_.AddAfter(Key("a"), seconds(10));
  runtime_.Advance(seconds(10) - api::Duration(1));
  EXPECT_EQ(queue_.depth(), 0u);
  runtime_.Advance(api::Duration(1));
  EXPECT_EQ(Drain(), "a");
  runtime_.Advance(seconds(100));
  EXPECT_EQ(Drain(), "");
  EXPECT_EQ(runtime_.timers(TimerKind::kWork), 0u);
}

TEST_F(WorkQueueTest, OfTwoDeadlinesTheEarlierWins) {
  queue_.AddAfter(Key("a"), seconds(10));
  queue_.AddAfter(Key("a"), seconds(20));
  queue_.AddAfter(Key("b"), seconds(20));
  queue_.AddAfter(Key("b"), seconds(10));
  EXPECT_EQ(runtime_.timers(TimerKind::kWork), 1u) << "one timer for all of them";
  runtime_.Advance(seconds(10));
  EXPECT_EQ(Drain(), "ab");
  runtime_.Advance(seconds(100));
  EXPECT_EQ(Drain(), "");
}

TEST_F(WorkQueueTest, DelayedKeysOfOneInstantComeInTheOrderOfTheirArrival) {
  queue_.AddAfter(Key("z"), seconds(2));
  queue_.AddAfter(Key("c"), seconds(1));
  queue_.AddAfter(Key("a"), seconds(1));
  queue_.AddAfter(Key("b"), seconds(1));
  runtime_.Advance(seconds(2));
  EXPECT_EQ(Drain(), "cabz");
}

TEST_F(WorkQueueTest, KeyMayBeReadyAndDelayedBesides) {
  queue_.AddAfter(Key("a"), seconds(1));
  queue_.Add(Key("a"));
  EXPECT_EQ(Drain(), "a");
  runtime_.Advance(seconds(1));
  EXPECT_EQ(Drain(), "a");

  queue_.AddAfter(Key("a"), seconds(1));
  queue_.Add(Key("a"));
  runtime_.Advance(seconds(1));
  EXPECT_EQ(Drain(), "a") << "ready once, whatever made it so";
}

TEST_F(WorkQueueTest, DelayOfNothingIsNow) {
  queue_.AddAfter(Key("a"), api::Duration::zero());
  queue_.AddAfter(Key("b"), seconds(-1));
  EXPECT_EQ(Drain(), "ab");
}

TEST_F(WorkQueueTest, EarlierDelayAddedLaterIsNotLate) {
  queue_.AddAfter(Key("late"), seconds(100));
  queue_.AddAfter(Key("soon"), seconds(1));
  runtime_.Advance(seconds(1));
  EXPECT_EQ(Drain(), "soon");
  runtime_.Advance(seconds(99));
  EXPECT_EQ(Drain(), "late");
}

TEST_F(WorkQueueTest, DelayDoublesWithEachFailureUpToTheMost) {
  WorkQueue queue(runtime_.env(), metrics_, "limits",
                  {.base = milliseconds(5), .most = milliseconds(30), .per_second = 0, .burst = 0});
  for (int ms : {5, 10, 20, 30, 30}) EXPECT_EQ(FailureDelay(queue, "a"), milliseconds(ms));
  EXPECT_EQ(queue.Requeues(Key("a")), 5);
  EXPECT_EQ(FailureDelay(queue, "b"), milliseconds(5)) << "each key by itself";
  queue.Forget(Key("a"));
  EXPECT_EQ(queue.Requeues(Key("a")), 0);
  EXPECT_EQ(FailureDelay(queue, "a"), milliseconds(5));
}

TEST_F(WorkQueueTest, DelayStaysTheMostAfterThousandsOfFailures) {
  WorkQueue queue(runtime_.env(), metrics_, "limits", {.per_second = 0});
  for (int i = 0; i < 3000; ++i) FailureDelay(queue, "a");
  EXPECT_EQ(FailureDelay(queue, "a"), seconds(1000));
}

TEST_F(WorkQueueTest, AllRetriesTogetherKeepToTheBucket) {
  WorkQueue queue(runtime_.env(), metrics_, "limits",
                  {.base = milliseconds(1), .most = seconds(1), .per_second = 10, .burst = 3});
  for (const char* name : {"a", "b", "c", "d", "e"}) queue.AddRateLimited(Key(name));
  runtime_.Advance(milliseconds(99));
  EXPECT_EQ(Drain(queue), "abc");
  runtime_.Advance(milliseconds(1));
  EXPECT_EQ(Drain(queue), "d");
  runtime_.Advance(milliseconds(100));
  EXPECT_EQ(Drain(queue), "e");

  runtime_.Advance(seconds(100));
  for (const char* name : {"f", "g", "h", "i"}) queue.AddRateLimited(Key(name));
  runtime_.Advance(milliseconds(1));
  EXPECT_EQ(Drain(queue), "fgh") << "it fills up to its burst and no further";
}

TEST_F(WorkQueueTest, ReadyIsCalledWhenAKeyBecomesReadyWhileThereWasNone) {
  int called = 0;
  queue_.SetReady([&] { ++called; });
  queue_.Add(Key("a"));
  EXPECT_EQ(called, 1);
  queue_.Add(Key("b"));
  EXPECT_EQ(called, 1);
  ASSERT_EQ(queue_.TryPop(), Key("a"));
  ASSERT_EQ(queue_.TryPop(), Key("b"));
  queue_.Add(Key("a"));
  EXPECT_EQ(called, 1) << "parked";
  queue_.Done(Key("a"));
  EXPECT_EQ(called, 2);
  Drain();
  queue_.AddAfter(Key("c"), seconds(1));
  EXPECT_EQ(called, 2);
  runtime_.Advance(seconds(1));
  EXPECT_EQ(called, 3);
}

TEST_F(WorkQueueTest, DestroyedWithDelayedKeysItLeavesNoTimer) {
  auto queue = std::make_unique<WorkQueue>(runtime_.env(), metrics_, "gone");
  queue->AddAfter(Key("a"), seconds(1));
  queue->Add(Key("b"));
  queue->TryPop();
  queue.reset();
  EXPECT_EQ(runtime_.timers(TimerKind::kWork), 0u);
  EXPECT_EQ(runtime_.timers(TimerKind::kBackground), 0u);
}

TEST_F(WorkQueueTest, KeyThatWasNotHandedOutCannotBeDone) {
  queue_.Add(Key("a"));
  EXPECT_DEATH(queue_.Done(Key("a")), "in_flight");
  EXPECT_DEATH(queue_.Done(Key("b")), "work_queue.cc");
}

TEST_F(WorkQueueTest, CountsAddsDepthAndRetriesAsClientGoDoes) {
  EXPECT_TRUE(HasMetric("workqueue_depth{name=\"test\"} 0")) << "there before the first key";
  queue_.Add(Key("a"));
  queue_.Add(Key("a"));
  queue_.Add(Key("b"));
  EXPECT_TRUE(HasMetric("workqueue_adds_total{name=\"test\"} 2"));
  EXPECT_TRUE(HasMetric("workqueue_depth{name=\"test\"} 2"));
  queue_.TryPop();
  EXPECT_TRUE(HasMetric("workqueue_depth{name=\"test\"} 1"));
  queue_.Add(Key("a"));
  EXPECT_TRUE(HasMetric("workqueue_adds_total{name=\"test\"} 3"));
  EXPECT_TRUE(HasMetric("workqueue_depth{name=\"test\"} 2")) << "a parked key counts";
  queue_.AddAfter(Key("c"), seconds(1));
  queue_.AddRateLimited(Key("d"));
  EXPECT_TRUE(HasMetric("workqueue_retries_total{name=\"test\"} 2"));
}

TEST_F(WorkQueueTest, MeasuresWaitingAndWork) {
  queue_.Add(Key("a"));
  runtime_.Advance(seconds(2));
  queue_.TryPop();
  queue_.Add(Key("a"));
  runtime_.Advance(seconds(3));
  queue_.Done(Key("a"));
  EXPECT_TRUE(HasMetric("workqueue_queue_duration_seconds_sum{name=\"test\"} 2"));
  EXPECT_TRUE(HasMetric("workqueue_work_duration_seconds_sum{name=\"test\"} 3"));
  EXPECT_TRUE(HasMetric("workqueue_work_duration_seconds_bucket{name=\"test\",le=\"1\"} 0"));
  EXPECT_TRUE(HasMetric("workqueue_work_duration_seconds_bucket{name=\"test\",le=\"10\"} 1"));
  queue_.TryPop();
  EXPECT_TRUE(HasMetric("workqueue_queue_duration_seconds_sum{name=\"test\"} 5"))
      << "it waited while it was parked";
}

TEST_F(WorkQueueTest, ReportsUnfinishedWorkWhileThereIsAny) {
  queue_.Add(Key("a"));
  queue_.Add(Key("b"));
  queue_.TryPop();
  runtime_.Advance(seconds(1));
  queue_.TryPop();
  runtime_.Advance(seconds(1));
  EXPECT_TRUE(HasMetric("workqueue_unfinished_work_seconds{name=\"test\"} 3"));
  EXPECT_TRUE(HasMetric("workqueue_longest_running_processor_seconds{name=\"test\"} 2"));
  EXPECT_EQ(runtime_.timers(TimerKind::kWork), 0u) << "housekeeping keeps no cluster busy";
  queue_.Done(Key("a"));
  queue_.Done(Key("b"));
  runtime_.Advance(seconds(1));
  EXPECT_TRUE(HasMetric("workqueue_unfinished_work_seconds{name=\"test\"} 0"));
  EXPECT_TRUE(HasMetric("workqueue_longest_running_processor_seconds{name=\"test\"} 0"));
  EXPECT_EQ(runtime_.timers(TimerKind::kBackground), 0u) << "a queue at rest costs nothing";
}

}  // namespace
}  // namespace terrarium::controllers
