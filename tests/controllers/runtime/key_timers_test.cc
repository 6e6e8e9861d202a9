#include "controllers/runtime/key_timers.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers {
namespace {

using controllers_testing::FakeRuntime;
using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

class KeyTimersTest : public testing::Test {
 protected:
  std::vector<std::string> Fired() { return std::exchange(fired_, {}); }

  FakeRuntime runtime_;
  std::vector<std::string> fired_;
  std::optional<KeyTimers> timers_{std::in_place, runtime_.env(),
                                   [this](const ObjectName& key) { fired_.push_back(key.String()); }};
  const ObjectName a_{"ns", "a"};
  const ObjectName b_{"ns", "b"};
};

TEST_F(KeyTimersTest, EachKeyFiresOnceAtItsTime) {
  timers_->Set(a_, 2s);
  timers_->Set(b_, 1s);
  runtime_.Advance(1s);
  EXPECT_THAT(Fired(), ElementsAre("ns/b"));
  runtime_.Advance(1h);
  EXPECT_THAT(Fired(), ElementsAre("ns/a"));
}

TEST_F(KeyTimersTest, SettingAgainReplacesTheEarlierTime) {
  timers_->Set(a_, 1s);
  timers_->Set(a_, 3s);
  runtime_.Advance(2s);
  EXPECT_THAT(Fired(), IsEmpty());
  runtime_.Advance(1s);
  EXPECT_THAT(Fired(), ElementsAre("ns/a"));
}

TEST_F(KeyTimersTest, CancelledTimerDoesNotFire) {
  timers_->Set(a_, 1s);
  timers_->Cancel(a_);
  timers_->Cancel(b_);
  runtime_.Advance(1h);
  EXPECT_THAT(Fired(), IsEmpty());
  EXPECT_EQ(runtime_.timers(api::TimerKind::kWork), 0u);
}

TEST_F(KeyTimersTest, HousekeepingBecomesWorkAtTheSameTime) {
  timers_->Set(a_, 10s, api::TimerKind::kBackground);
  EXPECT_EQ(runtime_.timers(api::TimerKind::kWork), 0u);
  runtime_.Advance(4s);
  timers_->MakeWork(a_);
  timers_->MakeWork(b_);
  EXPECT_EQ(runtime_.NextTimer(api::TimerKind::kWork), 6s);
  EXPECT_EQ(runtime_.timers(api::TimerKind::kBackground), 0u);
  runtime_.Advance(6s);
  EXPECT_THAT(Fired(), ElementsAre("ns/a"));
}

TEST_F(KeyTimersTest, WhatFiresMaySetItselfAgain) {
  int times = 0;
  KeyTimers* again = nullptr;
  KeyTimers timers(runtime_.env(), [&](const ObjectName& key) {
    if (++times < 3) again->Set(key, 1s);
  });
  again = &timers;
  timers.Set(a_, 1s);
  runtime_.Advance(1h);
  EXPECT_EQ(times, 3);
}

TEST_F(KeyTimersTest, NothingFiresAfterTheEnd) {
  timers_->Set(a_, 1s);
  timers_.reset();
  runtime_.Advance(1h);
  EXPECT_THAT(Fired(), IsEmpty());
}

}  // namespace
}  // namespace terrarium::controllers
