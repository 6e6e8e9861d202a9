#pragma once

// The executor of one run of a component, from its start to its end. Work goes to the component's lane; once the run
// has ended, nothing of it runs any more: queued work and timers are dropped, and so is what others (a commit thread
// with an answer, a watch with a wake-up) post afterwards. So a component can be crashed between any two pieces of its
// work, and nothing in it has to know.
//
// It outlives its run: whoever still holds a reference may post to it.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "api/base/clock.h"
#include "api/base/executor.h"

namespace terrarium::testbed {

class InstanceExecutor : public api::Executor {
 public:
  // Both outlive it.
  InstanceExecutor(api::Executor& lane, const api::Clock& clock);

  void Post(std::function<void()> work) override;
  api::TimerId PostTimer(api::TimerKind kind, api::Duration delay, std::function<void()> work) override;
  bool Cancel(api::TimerId id) override;
  void OutsideStarted() override { lane_.OutsideStarted(); }
  void OutsideEnded() override { lane_.OutsideEnded(); }

  // Nothing of this run begins any more. REQUIRES: called on the lane, or nobody runs it, so that no piece is under way.
  void End();
  // While work is in vain (there is no apiserver to bring its results to), all timers count as housekeeping: they fire
  // when they are due, and a plane that waits for nothing else is idle. Those that were set as work are work again
  // afterwards, due when they were.
  void SetInVain(bool in_vain);

 private:
  struct Timer {
    api::TimerId lane_id = 0;
    api::TimerKind kind = api::TimerKind::kWork;
    api::Time due{};
    std::function<void()> work;
  };
  // Shared with what is on the lane.
  struct Run {
    std::atomic<bool> ended = false;
    std::mutex mutex;
    bool in_vain = false;
    std::map<api::TimerId, Timer> timers;
    api::TimerId last_id = 0;

    void Fire(api::TimerId id);
  };
  // REQUIRES: run_->mutex is held.
  api::TimerId PostOnLane(api::TimerId id, const Timer& timer);

  api::Executor& lane_;
  const api::Clock& clock_;
  std::shared_ptr<Run> run_ = std::make_shared<Run>();
};

}  // namespace terrarium::testbed
