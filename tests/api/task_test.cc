#include "api/base/task.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace terrarium::api {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Trace = std::vector<std::string>;
using Done = Awaitable<int>::Done;

// Records its destruction.
struct Local {
  Trace* trace;
  std::string name;
  Local(Trace* t, std::string n) : trace(t), name(std::move(n)) {}
  Local(const Local&) = delete;
  Local& operator=(const Local&) = delete;
  ~Local() { trace->push_back("~" + name); }
};

// An executor whose timers the test fires.
class Timers : public Executor {
 public:
  void Post(std::function<void()> work) override { work(); }
  TimerId PostTimer(TimerKind kind, Duration delay, std::function<void()> work) override {
    kinds.push_back(kind);
    delays.push_back(delay);
    waiting.emplace(++last, std::move(work));
    return last;
  }
  bool Cancel(TimerId id) override { return waiting.erase(id) > 0; }
  void Fire(TimerId id) {
    auto timer = waiting.extract(id);
    timer.mapped()();
  }

  std::map<TimerId, std::function<void()>> waiting;
  std::vector<TimerKind> kinds;
  std::vector<Duration> delays;
  TimerId last = 0;
};

Task<int> Give(Trace* trace, int value) {
  trace->push_back("give");
  co_return value;
}

Task<int> Wait(Trace* trace, std::string name, Done* done) {
  Local local(trace, name);
  trace->push_back("wait");
  Awaitable<int> value([done](Done d) { *done = std::move(d); });
  int got = co_await std::move(value);
  trace->push_back("got " + std::to_string(got));
  co_return got;
}

Task<void> Twice(Trace* trace, Done* done) {
  Local local(trace, "outer");
  Task<int> inner = Wait(trace, "inner", done);
  int value = co_await std::move(inner);
  trace->push_back("twice " + std::to_string(2 * value));
}

class TaskTest : public ::testing::Test {
 protected:
  Trace TakeTrace() { return std::exchange(trace_, {}); }

  Trace trace_;
  Done done_;
  Timers timers_;
  TaskScope scope_;
};

Task<void> Sum(Trace* trace) {
  Task<int> one = Give(trace, 1);
  Task<int> two = Give(trace, 2);
  trace->push_back("made");
  int second = co_await std::move(two);
  int first = co_await std::move(one);
  trace->push_back("sum " + std::to_string(first + second));
}

TEST_F(TaskTest, DoesNothingUntilItIsAwaited) {
  { Task<int> never = Give(&trace_, 1); }
  EXPECT_THAT(TakeTrace(), IsEmpty());
  Task<void> sum = Sum(&trace_);
  EXPECT_THAT(TakeTrace(), IsEmpty());
  scope_.Spawn(std::move(sum));
  EXPECT_THAT(TakeTrace(), ElementsAre("made", "give", "give", "sum 3"));
  EXPECT_EQ(scope_.size(), 0u);
}

TEST_F(TaskTest, GoesOnWithTheValueThatTheCallbackIsGiven) {
  scope_.Spawn(Twice(&trace_, &done_));
  EXPECT_THAT(TakeTrace(), ElementsAre("wait"));
  EXPECT_EQ(scope_.size(), 1u);
  done_(21);
  EXPECT_THAT(TakeTrace(), ElementsAre("got 21", "~inner", "twice 42", "~outer"));
  EXPECT_EQ(scope_.size(), 0u);
}

TEST_F(TaskTest, SecondCallOfTheCallbackDoesNothing) {
  scope_.Spawn(Twice(&trace_, &done_));
  done_(21);
  TakeTrace();
  done_(4);
  EXPECT_THAT(TakeTrace(), IsEmpty());
}

Task<void> WithoutWaiting(Trace* trace) {
  Awaitable<std::string> value([](Awaitable<std::string>::Done done) { done("now"); });
  std::string got = co_await std::move(value);
  trace->push_back(got);
}

TEST_F(TaskTest, CallbackMayComeBeforeTheCallThatStartsItHasReturned) {
  scope_.Spawn(WithoutWaiting(&trace_));
  EXPECT_THAT(TakeTrace(), ElementsAre("now"));
  EXPECT_EQ(scope_.size(), 0u);
}

Task<void> ManyWithoutWaiting(int* sum) {
  for (int i = 0; i < 100'000; ++i) {
    Awaitable<int> value([i](Done done) { done(i % 2); });
    *sum += co_await std::move(value);
  }
}

TEST_F(TaskTest, ImmediateCallbacksNeedNoStack) {
  int sum = 0;
  scope_.Spawn(ManyWithoutWaiting(&sum));
  EXPECT_EQ(sum, 50'000);
}

Task<void> MoveOnly(Trace* trace) {
  Awaitable<std::unique_ptr<int>> value(
      [](Awaitable<std::unique_ptr<int>>::Done done) { done(std::make_unique<int>(7)); });
  std::unique_ptr<int> got = co_await std::move(value);
  trace->push_back(std::to_string(*got));
}

TEST_F(TaskTest, ValuesNeedNotBeCopyable) {
  scope_.Spawn(MoveOnly(&trace_));
  EXPECT_THAT(TakeTrace(), ElementsAre("7"));
}

TEST_F(TaskTest, DestroyingAScopeDestroysWhatItsTasksHoldFromTheInsideOut) {
  {
    TaskScope scope;
    scope.Spawn(Twice(&trace_, &done_));
    TakeTrace();
  }
  EXPECT_THAT(TakeTrace(), ElementsAre("~inner", "~outer"));
  done_(1);
  EXPECT_THAT(TakeTrace(), IsEmpty()) << "a callback that comes too late does nothing";
}

Task<void> HoldInner(Trace* trace, Done* done, Done* outer_done) {
  {
    Task<int> inner = Wait(trace, "inner", done);
    Task<int> dropped = std::move(inner);
  }
  trace->push_back("dropped");
  int value = co_await Wait(trace, "kept", outer_done);
  trace->push_back(std::to_string(value));
}

TEST_F(TaskTest, TaskThatIsDroppedUnawaitedNeverRuns) {
  Done other;
  scope_.Spawn(HoldInner(&trace_, &done_, &other));
  EXPECT_THAT(TakeTrace(), ElementsAre("dropped", "wait"));
  EXPECT_FALSE(done_);
  other(5);
  EXPECT_THAT(TakeTrace(), ElementsAre("got 5", "~kept", "5"));
}

TEST_F(TaskTest, AssigningToATaskDestroysTheOneItHeld) {
  Task<int> task = Wait(&trace_, "first", &done_);
  task = Give(&trace_, 1);
  EXPECT_THAT(TakeTrace(), IsEmpty()) << "it had not begun, and held nothing";
}

TEST_F(TaskTest, TasksOfAScopeWaitSideBySide) {
  Done first, second;
  scope_.Spawn(Twice(&trace_, &first));
  scope_.Spawn(Twice(&trace_, &second));
  EXPECT_EQ(scope_.size(), 2u);
  TakeTrace();
  second(1);
  EXPECT_THAT(TakeTrace(), ElementsAre("got 1", "~inner", "twice 2", "~outer"));
  EXPECT_EQ(scope_.size(), 1u);
  first(2);
  EXPECT_THAT(TakeTrace(), ElementsAre("got 2", "~inner", "twice 4", "~outer"));
}

struct LooksAtScope {
  TaskScope* scope;
  std::vector<std::size_t>* sizes;
  ~LooksAtScope() { sizes->push_back(scope->size()); }
};
Task<void> WaitLooking(TaskScope* scope, std::vector<std::size_t>* sizes, Done* done) {
  LooksAtScope look{scope, sizes};
  Awaitable<int> value([done](Done d) { *done = std::move(d); });
  co_await std::move(value);
}

TEST_F(TaskTest, LocalsMayReadTheScopeDuringItsDestruction) {
  std::vector<std::size_t> sizes;
  {
    TaskScope scope;
    scope.Spawn(WaitLooking(&scope, &sizes, &done_));
    scope.Spawn(WaitLooking(&scope, &sizes, &done_));
  }
  EXPECT_THAT(sizes, ElementsAre(1u, 0u));
}

Task<void> SpawnAnother(TaskScope* scope, Trace* trace) {
  scope->Spawn(Sum(trace));
  trace->push_back("spawned");
  co_return;
}

TEST_F(TaskTest, TaskMaySpawnAnother) {
  scope_.Spawn(SpawnAnother(&scope_, &trace_));
  EXPECT_THAT(TakeTrace(), ElementsAre("made", "give", "give", "sum 3", "spawned"));
  EXPECT_EQ(scope_.size(), 0u);
}

Task<void> Doze(Executor* executor, Trace* trace, TimerKind kind) {
  Local local(trace, "sleeper");
  Sleep sleep(*executor, seconds(5), kind);
  co_await sleep;
  trace->push_back("awake");
}

TEST_F(TaskTest, SleepGoesOnWhenItsTimerFires) {
  scope_.Spawn(Doze(&timers_, &trace_, TimerKind::kWork));
  EXPECT_THAT(timers_.delays, ElementsAre(seconds(5)));
  EXPECT_THAT(TakeTrace(), IsEmpty());
  timers_.Fire(1);
  EXPECT_THAT(TakeTrace(), ElementsAre("awake", "~sleeper"));
  scope_.Spawn(Doze(&timers_, &trace_, TimerKind::kBackground));
  EXPECT_THAT(timers_.kinds, ElementsAre(TimerKind::kWork, TimerKind::kBackground));
}

TEST_F(TaskTest, SleeperThatIsDestroyedTakesItsTimerWithIt) {
  {
    TaskScope scope;
    scope.Spawn(Doze(&timers_, &trace_, TimerKind::kWork));
    EXPECT_EQ(timers_.waiting.size(), 1u);
  }
  EXPECT_EQ(timers_.waiting.size(), 0u);
  EXPECT_THAT(TakeTrace(), ElementsAre("~sleeper"));
}

}  // namespace
}  // namespace terrarium::api
