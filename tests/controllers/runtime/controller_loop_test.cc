#include "controllers/runtime/controller_loop.h"

#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers {
namespace {

using api::TimerKind;
using controllers_testing::FakeRuntime;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ObjectName Key(const std::string& name) { return {"default", name}; }
api::Status Broken() { return api::InternalError("broken"); }
api::Status Stale() { return api::ModifiedConflict({.group = "", .resource = "pods"}, "a"); }

class ControllerLoopTest : public ::testing::Test {
 protected:
  // Records its destruction, however it comes about.
  struct Leaving {
    ControllerLoopTest* test;
    std::string name;
    ~Leaving() { test->left_.push_back(name); }
  };

  // Takes the next outcome. A waiting sync continues when the test resumes it.
  static api::Task<ReconcileResult> Sync(ControllerLoopTest* test, ObjectName key) {
    test->began_.push_back(key.name);
    Leaving leaving{test, key.name};
    if (test->waiting_) {
      api::Awaitable<bool> until(
          [test, key](api::Awaitable<bool>::Done done) { test->blocked_[key.name] = done; });
      co_await std::move(until);
    }
    if (test->outcomes_.empty()) co_return Reconciled::Done();
    ReconcileResult outcome = test->outcomes_.front();
    test->outcomes_.pop_front();
    co_return outcome;
  }

  std::unique_ptr<ControllerLoop> Make(LoopOptions options) {
    return std::make_unique<ControllerLoop>(runtime_.env(), metrics_, std::move(options),
                                            [this](ObjectName key) { return Sync(this, std::move(key)); });
  }
  void Unblock(const std::string& name) {
    auto done = blocked_.extract(name);
    done.mapped()(true);
  }
  std::vector<std::string> TakeBegan() { return std::exchange(began_, {}); }
  // The time until the next retry.
  std::optional<api::Duration> Wait() const { return runtime_.NextTimer(TimerKind::kWork); }

  FakeRuntime runtime_;
  Metrics metrics_;
  std::deque<ReconcileResult> outcomes_;
  bool waiting_ = false;
  std::map<std::string, std::function<void(bool)>> blocked_;
  std::vector<std::string> began_;
  std::vector<std::string> left_;
};

TEST_F(ControllerLoopTest, KeysWaitUntilTheStart) {
  auto loop = Make({.name = "test"});
  loop->queue().Add(Key("b"));
  loop->queue().Add(Key("a"));
  loop->queue().Add(Key("b"));
  runtime_.RunReady();
  EXPECT_THAT(TakeBegan(), IsEmpty());
  loop->Start();
  EXPECT_THAT(TakeBegan(), IsEmpty()) << "each begins as a piece of work of its own";
  runtime_.RunOne();
  EXPECT_THAT(TakeBegan(), ElementsAre("b"));
  runtime_.RunOne();
  EXPECT_THAT(TakeBegan(), ElementsAre("a"));
  loop->queue().Add(Key("c"));
  runtime_.RunReady();
  EXPECT_THAT(TakeBegan(), ElementsAre("c"));
  EXPECT_EQ(runtime_.ready(), 0u);
}

TEST_F(ControllerLoopTest, RunsUpToTheLimitInParallelAndOneKeyNeverTwice) {
  waiting_ = true;
  auto loop = Make({.name = "test", .workers = 2});
  loop->Start();
  for (const char* name : {"a", "b", "c"}) loop->queue().Add(Key(name));
  runtime_.RunReady();
  EXPECT_THAT(TakeBegan(), ElementsAre("a", "b"));
  loop->queue().Add(Key("a"));
  runtime_.RunReady();
  EXPECT_THAT(TakeBegan(), IsEmpty());
  Unblock("b");
  runtime_.RunReady();
  EXPECT_THAT(TakeBegan(), ElementsAre("c"));
  Unblock("c");
  runtime_.RunReady();
  EXPECT_THAT(TakeBegan(), IsEmpty()) << "a is under way";
  Unblock("a");
  runtime_.RunReady();
  EXPECT_THAT(TakeBegan(), ElementsAre("a"));
}

TEST_F(ControllerLoopTest, DoneResetsTheBackoff) {
  auto loop = Make({.name = "test"});
  loop->Start();
  outcomes_ = {Broken(), Broken(), Reconciled::Done(), Broken()};
  loop->queue().Add(Key("a"));
  runtime_.RunReady();
  EXPECT_EQ(Wait(), milliseconds(5));
  runtime_.Advance(milliseconds(5));
  EXPECT_EQ(Wait(), milliseconds(10));
  runtime_.Advance(milliseconds(10));
  EXPECT_EQ(Wait(), std::nullopt);
  EXPECT_EQ(loop->queue().Requeues(Key("a")), 0);
  loop->queue().Add(Key("a"));
  runtime_.RunReady();
  EXPECT_EQ(Wait(), milliseconds(5));
}

TEST_F(ControllerLoopTest, RequeueAfterResetsTheBackoff) {
  auto loop = Make({.name = "test"});
  loop->Start();
  outcomes_ = {Broken(), Reconciled::RequeueAfter(seconds(30)), Broken()};
  loop->queue().Add(Key("a"));
  runtime_.Advance(milliseconds(5));
  EXPECT_EQ(Wait(), seconds(30));
  EXPECT_EQ(loop->queue().Requeues(Key("a")), 0);
  runtime_.Advance(seconds(30));
  EXPECT_THAT(TakeBegan(), ElementsAre("a", "a", "a"));
  EXPECT_EQ(Wait(), milliseconds(5));
}

TEST_F(ControllerLoopTest, FailuresAreLoggedAndConflictsAreNot) {
  auto loop = Make({.name = "test"});
  loop->Start();
  outcomes_ = {Stale(), Broken()};
  loop->queue().Add(Key("a"));
  runtime_.RunReady();
  EXPECT_EQ(Wait(), milliseconds(5));
  EXPECT_THAT(runtime_.log(), IsEmpty());
  runtime_.Advance(milliseconds(5));
  EXPECT_THAT(runtime_.log(), ElementsAre("warning: test: default/a: Internal error occurred: broken"));
}

TEST_F(ControllerLoopTest, KeyThatFailsTooOftenIsDroppedUntilItIsAddedAgain) {
  auto loop = Make({.name = "test", .retries_max = 2});
  loop->Start();
  outcomes_ = {Broken(), Broken(), Stale(), Broken()};
  loop->queue().Add(Key("a"));
  runtime_.Advance(seconds(60));
  EXPECT_THAT(TakeBegan(), ElementsAre("a", "a", "a"));
  EXPECT_EQ(runtime_.log().size(), 3u) << "even a conflict that ends it";
  EXPECT_NE(runtime_.log().back().find("(dropped)"), std::string::npos);
  loop->queue().Add(Key("a"));
  runtime_.RunReady();
  EXPECT_THAT(TakeBegan(), ElementsAre("a"));
  EXPECT_EQ(Wait(), milliseconds(5)) << "with a new backoff";
}

TEST_F(ControllerLoopTest, RetryLimitsAreThoseOfTheOptions) {
  auto loop = Make({.name = "test", .retry = {.base = seconds(5), .most = seconds(60)}});
  loop->Start();
  outcomes_ = {Broken()};
  loop->queue().Add(Key("a"));
  runtime_.RunReady();
  EXPECT_EQ(Wait(), seconds(5));
}

TEST_F(ControllerLoopTest, KeyAddedDuringAFailingReconcileIsRetriedImmediatelyAndAfterTheBackoff) {
  waiting_ = true;
  auto loop = Make({.name = "test"});
  loop->Start();
  outcomes_ = {Broken()};
  loop->queue().Add(Key("a"));
  runtime_.RunReady();
  loop->queue().Add(Key("a"));
  Unblock("a");
  waiting_ = false;
  runtime_.RunReady();
  EXPECT_THAT(TakeBegan(), ElementsAre("a", "a"));
  runtime_.Advance(seconds(1));
  EXPECT_THAT(TakeBegan(), ElementsAre("a"));
}

TEST_F(ControllerLoopTest, DestructionEndsWaitingReconciles) {
  waiting_ = true;
  auto loop = Make({.name = "test"});
  loop->Start();
  loop->queue().Add(Key("a"));
  runtime_.RunReady();
  loop->queue().Add(Key("b"));
  loop.reset();
  EXPECT_THAT(left_, ElementsAre("a"));
  Unblock("a");
  runtime_.Advance(seconds(60));
  EXPECT_THAT(TakeBegan(), ElementsAre("a")) << "b's piece of work comes too late";
  EXPECT_EQ(runtime_.timers(TimerKind::kBackground), 0u);
}

}  // namespace
}  // namespace terrarium::controllers
