#pragma once

// A virtual clock, and an executor that runs on the test's own thread.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>

#include "api/base/clock.h"
#include "api/base/executor.h"

namespace terrarium::wire {

class ManualRuntime : public api::Clock, public api::Executor {
 public:
  explicit ManualRuntime(api::Time start) : now_(start) {}

  api::Time Now() const override { return now_; }
  void Post(std::function<void()> work) override { ready_.push_back(std::move(work)); }
  api::TimerId PostTimer(api::TimerKind kind, api::Duration delay, std::function<void()> work) override;
  bool Cancel(api::TimerId id) override;

  // Runs posted work, and the work that it posts, until none is left.
  void RunReady();
  // Advances the clock and runs the timers in order.
  void Advance(api::Duration duration);
  // Advances the clock to the next timer if it is at most `most` away, and runs it; false if there is none.
  bool AdvanceToNextTimer(api::Duration most);

 private:
  using Due = std::pair<api::Time, api::TimerId>;
  void FireFirst();

  api::Time now_;
  std::deque<std::function<void()>> ready_;
  std::map<Due, std::function<void()>> timers_;
  std::map<api::TimerId, api::Time> due_;
  api::TimerId next_id_ = 1;
};

}  // namespace terrarium::wire
