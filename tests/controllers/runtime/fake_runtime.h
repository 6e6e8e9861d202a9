#pragma once

// Time and work for a test of one component: a clock that stands still until it is moved, and a lane that
// runs on the test's own thread, piece by piece. It also keeps what was logged.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "api/base/env.h"
#include "api/base/executor.h"
#include "api/base/feature_gates.h"
#include "api/base/prng.h"

namespace terrarium::controllers_testing {

class FakeRuntime : public api::Clock, public api::Executor {
 public:
  static constexpr api::Time kStart{std::chrono::seconds(1'767'225'600)};  // 2026-01-01T00:00:00Z

  FakeRuntime();
  ~FakeRuntime() override;

  api::Env env();
  api::FeatureGates& gates() { return gates_; }

  api::Time Now() const override { return now_; }
  void Post(std::function<void()> work) override { ready_.push_back(std::move(work)); }
  api::TimerId PostTimer(api::TimerKind kind, api::Duration delay, std::function<void()> work) override;
  bool Cancel(api::TimerId id) override;

  // Runs the oldest posted piece; false when there is none.
  bool RunOne();
  // Runs what is posted, and what that posts, until there is none. Ends the process when that has no end.
  void RunReady();
  // Moves the clock, running the timers on the way, each at its instant, and what comes of them.
  void Advance(api::Duration duration);

  std::size_t ready() const { return ready_.size(); }
  std::size_t timers(api::TimerKind kind) const;
  // How long until the next timer of that kind.
  std::optional<api::Duration> NextTimer(api::TimerKind kind) const;

  // "warning: message" and so on, debug included.
  std::vector<std::string> log() const;

 private:
  class LogLines;
  struct Timer {
    api::TimerKind kind;
    std::function<void()> work;
  };

  api::Time now_ = kStart;
  std::deque<std::function<void()>> ready_;
  std::map<std::pair<api::Time, api::TimerId>, Timer> timers_;
  std::map<api::TimerId, api::Time> due_;
  api::TimerId next_id_ = 1;
  api::Prng prng_{1};
  api::FeatureGates gates_;
  std::shared_ptr<LogLines> lines_;
  std::unique_ptr<spdlog::logger> log_;
};

}  // namespace terrarium::controllers_testing
