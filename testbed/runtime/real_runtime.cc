#include "testbed/runtime/real_runtime.h"

#include <random>
#include <utility>

namespace terrarium::testbed {

api::Time RealClock::Now() const {
  return std::chrono::time_point_cast<api::Duration>(std::chrono::system_clock::now());
}

ThreadExecutor::ThreadExecutor() : thread_([this] { Run(); }) {}

ThreadExecutor::~ThreadExecutor() { Stop(); }

void ThreadExecutor::Stop() {
  Timers dropped;  // destroyed without the lock: what the work captured may call Cancel()
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    timers_.swap(dropped);
    due_.clear();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ThreadExecutor::Post(std::function<void()> work) { PostAfter(api::Duration::zero(), std::move(work)); }

api::TimerId ThreadExecutor::PostTimer(api::TimerKind, api::Duration delay, std::function<void()> work) {
  Due due = std::chrono::steady_clock::now() + delay;
  std::lock_guard lock(mutex_);
  if (stopping_) return 0;
  api::TimerId id = next_id_++;
  bool first = timers_.empty() || due < timers_.begin()->first.first;
  timers_.emplace(std::pair(due, id), std::move(work));
  due_.emplace(id, due);
  if (first) changed_.notify_one();
  return id;
}

bool ThreadExecutor::Cancel(api::TimerId id) {
  Timers::node_type dropped;  // destroyed without the lock
  std::lock_guard lock(mutex_);
  auto it = due_.find(id);
  if (it == due_.end()) return false;
  dropped = timers_.extract({it->second, id});
  due_.erase(it);
  return true;
}

void ThreadExecutor::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (timers_.empty()) {
      changed_.wait(lock);
      continue;
    }
    auto first = timers_.begin();
    // A copy: wait_until() reads its argument again after the wait, and Cancel() may have erased the timer by
    // then.
    const Due due = first->first.first;
    if (due > std::chrono::steady_clock::now()) {
      changed_.wait_until(lock, due);
      continue;
    }
    std::function<void()> work = std::move(first->second);
    due_.erase(first->first.second);
    timers_.erase(first);
    lock.unlock();
    work();
    work = nullptr;  // what it captured is let go without the lock
    lock.lock();
  }
}

std::chrono::nanoseconds WallTime() { return std::chrono::steady_clock::now().time_since_epoch(); }

std::uint64_t RandomSeed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

}  // namespace terrarium::testbed
