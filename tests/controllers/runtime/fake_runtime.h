#pragma once

// A virtual clock and an executor for a test of one component. The lane runs on the test's thread, piece by
// piece. Log lines are kept.

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

  // Runs the oldest posted piece of work; false if there is none.
  bool RunOne();
  // Runs posted work, and the work that it posts, until none is left. Ends the process if there is no end.
  void RunReady();
  // Advances the clock. Runs each timer at its instant, and the work that follows.
  void Advance(api::Duration duration);

  std::size_t ready() const { return ready_.size(); }
  std::size_t timers(api::TimerKind kind) const;
  // The time until the next timer of that kind.
  std::optional<api::Duration> NextTimer(api::TimerKind kind) const;

  // "warning: message" and so on, including debug.
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
