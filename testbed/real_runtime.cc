#include "testbed/real_runtime.h"

#include <random>
#include <utility>

namespace terrarium::testbed {

api::Time RealClock::Now() const {
  return std::chrono::time_point_cast<api::Duration>(std::chrono::system_clock::now());
}

ThreadExecutor::ThreadExecutor() : thread_([this] { Run(); }) {}

ThreadExecutor::~ThreadExecutor() { Stop(); }

void ThreadExecutor::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    timers_.clear();
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
  std::lock_guard lock(mutex_);
  auto it = due_.find(id);
  if (it == due_.end()) return false;
  timers_.erase({it->second, id});
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
    if (first->first.first > std::chrono::steady_clock::now()) {
      changed_.wait_until(lock, first->first.first);
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

namespace {

constexpr int kSpinsBeforeSleep = 200;

}  // namespace

std::chrono::nanoseconds WallTime() { return std::chrono::steady_clock::now().time_since_epoch(); }

LiveDriver::LiveDriver(Runtime& runtime, int workers) : runtime_(runtime) {
  runtime_.SetNotify([this](Runtime::Signal signal) { Notified(signal); });
  threads_.emplace_back([this] { MindClock(); });
  for (int i = 0; i < workers; ++i) threads_.emplace_back([this] { Work(); });
}

LiveDriver::~LiveDriver() { Stop(); }

void LiveDriver::EndMoves() {
  moves_end_ = true;
  {
    std::lock_guard lock(mutex_);
    ++changes_;
  }
  changed_.notify_all();
}

void LiveDriver::Stop() {
  stopping_ = true;
  runtime_.Shutdown();
  ready_signal_.fetch_add(1);
  ready_signal_.notify_all();
  EndMoves();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

void LiveDriver::Control(std::function<void(ClockControl&)> work) {
  {
    std::lock_guard lock(mutex_);
    controls_.push_back(std::move(work));
    ++changes_;
  }
  changed_.notify_all();
}

void LiveDriver::Notified(Runtime::Signal signal) {
  if (signal == Runtime::Signal::kReady) {
    ready_signal_.fetch_add(1);
    ready_signal_.notify_one();
    return;
  }
  // A plane is quiet many times a second, and mostly nobody waits for it.
  if (signal == Runtime::Signal::kQuiet && !awaits_quiet_) return;
  {
    std::lock_guard lock(mutex_);
    ++changes_;
  }
  changed_.notify_all();
}

void LiveDriver::Work() {
  while (!stopping_) {
    unsigned seen = ready_signal_.load();
    auto piece = runtime_.TakeReady();
    if (!piece) {
      // Components answer each other within microseconds, and going to sleep and waking up costs more than that.
      for (int spin = 0; spin < kSpinsBeforeSleep && ready_signal_.load() == seen; ++spin) std::this_thread::yield();
      if (!stopping_) ready_signal_.wait(seen);
      continue;
    }
    piece->work();
    piece->work = nullptr;  // what it captured is let go before its lane goes on
    runtime_.Finished(*piece);
  }
}

bool LiveDriver::WaitUntilQuiet() {
  awaits_quiet_ = true;
  std::unique_lock lock(mutex_);
  while (!moves_end_) {
    std::uint64_t seen = changes_;
    lock.unlock();
    bool quiet = runtime_.Quiet();
    lock.lock();
    if (quiet) break;
    changed_.wait(lock, [&] { return changes_ != seen || moves_end_; });
  }
  awaits_quiet_ = false;
  return !moves_end_;
}

void LiveDriver::MindClock() {
  ClockControl control(runtime_, [this](const ClockControl::Stop&) { return WaitUntilQuiet(); });
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    std::uint64_t seen = changes_;
    if (!controls_.empty()) {
      auto work = std::move(controls_.front());
      controls_.pop_front();
      lock.unlock();
      work(control);
      work = nullptr;
      lock.lock();
      continue;
    }
    lock.unlock();
    ClockMode mode = runtime_.mode();
    bool fired = false;
    std::optional<std::chrono::nanoseconds> wait;
    if (mode.FollowsWall()) {
      // A fast clock works off what came of one timer before the next one fires, as a virtual one does.
      bool waits = mode.kind == ClockMode::Kind::kScaled;
      awaits_quiet_ = waits;
      bool may_fire = !waits || runtime_.Quiet();
      fired = may_fire && runtime_.FireNext(runtime_.Now());
      if (may_fire) wait = runtime_.WallUntilNextTimer();
    } else if (mode.kind == ClockMode::Kind::kAuto) {
      awaits_quiet_ = true;
      auto next = runtime_.NextWorkTimer();
      fired = next && runtime_.Quiet() && runtime_.FireNext(*next);
    }
    lock.lock();
    if (fired) continue;
    auto changed = [&] { return changes_ != seen || stopping_; };
    if (wait) changed_.wait_for(lock, *wait, changed);
    else changed_.wait(lock, changed);
    awaits_quiet_ = false;
  }
}

std::uint64_t RandomSeed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

}  // namespace terrarium::testbed
