#include "testbed/runtime/instance_executor.h"

#include <algorithm>
#include <utility>

namespace terrarium::testbed {

using api::Duration;
using api::TimerId;
using api::TimerKind;

InstanceExecutor::InstanceExecutor(api::Executor& lane, const api::Clock& clock)
    : lane_(lane), clock_(clock) {}

void InstanceExecutor::Post(std::function<void()> work) {
  if (run_->ended) return;
  lane_.Post([run = run_, work = std::move(work)] {
    if (!run->ended) work();
  });
}

template <typename PostOn>
TimerId InstanceExecutor::Add(TimerKind kind, Duration delay, std::function<void()> work, PostOn post) {
  std::lock_guard lock(run_->mutex);
  if (run_->ended) return 0;
  const TimerId id = ++run_->last_id;
  Timer& timer = run_->timers[id];
  timer.kind = kind;
  timer.due = clock_.Now() + std::max(delay, Duration::zero());
  timer.work = std::move(work);
  timer.lane_id = post(id, timer);
  return id;
}

TimerId InstanceExecutor::PostTimer(TimerKind kind, Duration delay, std::function<void()> work) {
  return Add(kind, delay, std::move(work),
             [this](TimerId id, const Timer& timer) { return PostOnLane(id, timer); });
}

TimerId InstanceExecutor::PostRepeating(Duration period, Duration delay, std::function<void()> work) {
  return Add(TimerKind::kBackground, delay, std::move(work), [&](TimerId id, const Timer& timer) {
    return api::PostRepeating(lane_, period, timer.due - clock_.Now(), [run = run_, id] { run->Fire(id); });
  });
}

TimerId InstanceExecutor::PostOnLane(TimerId id, const Timer& timer) {
  const TimerKind kind = run_->housekeeping_only ? TimerKind::kBackground : timer.kind;
  return lane_.PostTimer(kind, timer.due - clock_.Now(), [run = run_, id] { run->Fire(id); });
}

void InstanceExecutor::Run::Fire(TimerId id) {
  std::function<void()> work;
  {
    std::lock_guard lock(mutex);
    auto found = timers.find(id);
    if (found == timers.end()) return;
    work = std::move(found->second.work);
    timers.erase(found);
  }
  work();
}

bool InstanceExecutor::Cancel(TimerId id) {
  std::function<void()> dropped;  // what it holds is let go without the lock
  std::lock_guard lock(run_->mutex);
  auto found = run_->timers.find(id);
  if (found == run_->timers.end()) return false;
  dropped = std::move(found->second.work);
  lane_.Cancel(found->second.lane_id);
  run_->timers.erase(found);
  return true;
}

void InstanceExecutor::End() {
  std::map<TimerId, Timer> dropped;
  std::lock_guard lock(run_->mutex);
  run_->ended = true;
  dropped.swap(run_->timers);
  for (const auto& [id, timer] : dropped) lane_.Cancel(timer.lane_id);
}

void InstanceExecutor::SetHousekeepingOnly(bool housekeeping_only) {
  std::lock_guard lock(run_->mutex);
  if (run_->housekeeping_only == housekeeping_only) return;
  run_->housekeeping_only = housekeeping_only;
  for (auto& [id, timer] : run_->timers) {
    if (timer.kind != TimerKind::kWork) continue;
    lane_.Cancel(timer.lane_id);
    timer.lane_id = PostOnLane(id, timer);
  }
}

}  // namespace terrarium::testbed
