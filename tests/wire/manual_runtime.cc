#include "tests/wire/manual_runtime.h"

namespace terrarium::wire {

api::TimerId ManualRuntime::PostTimer(api::TimerKind, api::Duration delay, std::function<void()> work) {
  api::TimerId id = next_id_++;
  timers_.emplace(Due(now_ + delay, id), std::move(work));
  due_.emplace(id, now_ + delay);
  return id;
}

bool ManualRuntime::Cancel(api::TimerId id) {
  auto it = due_.find(id);
  if (it == due_.end()) return false;
  timers_.erase(Due(it->second, id));
  due_.erase(it);
  return true;
}

void ManualRuntime::RunReady() {
  while (!ready_.empty()) {
    std::function<void()> work = std::move(ready_.front());
    ready_.pop_front();
    work();
  }
}

void ManualRuntime::FireFirst() {
  auto first = timers_.begin();
  now_ = std::max(now_, first->first.first);
  std::function<void()> work = std::move(first->second);
  due_.erase(first->first.second);
  timers_.erase(first);
  work();
  RunReady();
}

void ManualRuntime::Advance(api::Duration duration) {
  api::Time end = now_ + duration;
  RunReady();
  while (!timers_.empty() && timers_.begin()->first.first <= end) FireFirst();
  now_ = end;
}

bool ManualRuntime::AdvanceToNextTimer(api::Duration most) {
  RunReady();
  if (timers_.empty() || timers_.begin()->first.first > now_ + most) return false;
  FireFirst();
  return true;
}

}  // namespace terrarium::wire
