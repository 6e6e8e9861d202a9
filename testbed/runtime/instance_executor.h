#pragma once

// The executor of one run of a component, from its start to its end. Work goes to the component's lane. After
// End() nothing of the run executes: queued work and timers are dropped, and so is work that other threads
// post later (a commit thread with a response, a watch with a wake-up). So a component can be crashed between
// any two pieces of its work without code of its own for that.
//
// The executor outlives its run: holders of a reference may still post to it.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "api/base/clock.h"
#include "api/base/executor.h"
#include "api/base/repeating_timer.h"

namespace terrarium::testbed {

class InstanceExecutor : public api::Executor, public api::RepeatingTimers {
 public:
  // `lane` and `clock` outlive the executor.
  InstanceExecutor(api::Executor& lane, const api::Clock& clock);

  void Post(std::function<void()> work) override;
  api::TimerId PostTimer(api::TimerKind kind, api::Duration delay, std::function<void()> work) override;
  api::TimerId PostRepeating(api::Duration period, api::Duration delay, std::function<void()> work) override;
  bool Cancel(api::TimerId id) override;
  void OutsideStarted() override { lane_.OutsideStarted(); }
  void OutsideEnded() override { lane_.OutsideEnded(); }

  // After this call no work of the run begins. REQUIRES: called on the lane, or while no driver runs the
  // lane, so that no piece of work is running.
  void End();
  // Whether all timers count as background timers, as they do while there is no apiserver to send results to.
  // They still fire when they are due, but a control plane that waits for nothing else is idle. Setting this
  // back to false restores the timers' own kinds and due times.
  void SetHousekeepingOnly(bool housekeeping_only);

 private:
  struct Timer {
    api::TimerId lane_id = 0;
    api::TimerKind kind = api::TimerKind::kWork;
    api::Time due{};
    std::function<void()> work;
  };
  // Shared with the work that is queued on the lane.
  struct Run {
    std::atomic<bool> ended = false;
    std::mutex mutex;
    bool housekeeping_only = false;
    std::map<api::TimerId, Timer> timers;
    api::TimerId last_id = 0;

    void Fire(api::TimerId id);
  };
  // Posts the timer with `post(id, timer)`, which returns its id on the lane.
  template <typename PostOn>
  api::TimerId Add(api::TimerKind kind, api::Duration delay, std::function<void()> work, PostOn post);
  // REQUIRES: run_->mutex is held.
  api::TimerId PostOnLane(api::TimerId id, const Timer& timer);

  api::Executor& lane_;
  const api::Clock& clock_;
  std::shared_ptr<Run> run_ = std::make_shared<Run>();
};

}  // namespace terrarium::testbed
