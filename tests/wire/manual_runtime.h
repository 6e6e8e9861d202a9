#pragma once

// A clock that stands still until a test moves it, and an executor that runs on the test's own thread.

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

  // Runs posted work, and what it posts, until there is none.
  void RunReady();
  // Moves the clock, running the timers on the way in their order.
  void Advance(api::Duration duration);
  // Moves the clock to the next timer if that is at most `most` away, and runs it; false when there is none.
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
