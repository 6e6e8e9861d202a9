#include "testbed/runtime/real_driver.h"

#include <optional>

namespace terrarium::testbed {
namespace {

constexpr int kSpinsBeforeSleep = 200;
// After this many pieces of work a busy control plane yields to the others.
constexpr int kPiecesInARow = 16;
// Components that react to each other indefinitely at one instant are slowed down, not stopped: a change that
// they have yet to see may end it.
constexpr std::chrono::milliseconds kLivelockPause(5);
// How many idle threads for clock moves are kept. Many parallel tests need many threads for a while.
constexpr std::size_t kBlockingIdleMax = 4;

void RunPiece(Runtime& runtime, Runtime::Piece& piece) {
  piece.work();
  piece.work = nullptr;  // destroys its captures before its lane continues
  runtime.Finished(piece);
}

}  // namespace

// The pool's state of one control plane. Pool threads use the runtime only between Enter() and Leave().
struct LivePool::Member {
  Member(LivePool& its_pool, Runtime& its_runtime) : pool(its_pool), runtime(its_runtime) {}

  bool Enter() {
    users.fetch_add(1);
    if (!gone) return true;
    Leave();
    return false;
  }
  void Leave() {
    if (users.fetch_sub(1) == 1 && gone) users.notify_all();
  }
  void WaitUntilUnused() {
    for (int count = users; count != 0; count = users) users.wait(count);
  }

  void NotifyWaiters() {
    {
      std::lock_guard lock(mutex);
      ++changes;
    }
    changed.notify_all();
  }
  // Runs ready work and waits for other threads' work until the control plane is quiet or `stop` returns
  // true.
  ClockControl::Rest WorkOff(const MemberPtr& self, const ClockControl::Stop& stop);
  bool MoveEnds() const {
    return moves_end || (control.cancelled != nullptr && control.cancelled->cancelled());
  }
  void RunControls(const MemberPtr& self);

  LivePool& pool;
  Runtime& runtime;
  std::atomic<int> users = 0;
  std::atomic<bool> gone = false;
  std::atomic<bool> listed = false;         // is in listed_
  std::atomic<bool> clock_listed = false;   // is in clocks_
  std::atomic<bool> awaits_quiet = false;   // a thread needs the kQuiet signal
  std::atomic<bool> awaits_pieces = false;  // a clock move checks its condition after every piece of work
  std::atomic<bool> moves_end = false;
  std::atomic<bool> moved = false;    // a clock move is running: the clock thread has nothing to do
  std::atomic<bool> helped = false;   // the clock move runs ready work itself
  std::mutex clock;                   // held by the thread that fires timers
  std::optional<WallTimePoint> wait;  // its entry in waits_

  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t changes = 0;  // so that no signal is missed between a check and a wait
  struct ControlWork {
    std::function<void(ClockControl&)> work;
    std::shared_ptr<api::CancelToken> cancelled;
  };
  std::deque<ControlWork> controls;
  bool controls_run = false;
  ControlWork control;  // the one that is running; used by its thread only
};

ClockControl::Rest LivePool::Member::WorkOff(const MemberPtr& self, const ClockControl::Stop& stop) {
  using Rest = ClockControl::Rest;
  helped = true;
  awaits_quiet = true;
  awaits_pieces = stop != nullptr;
  const std::uint64_t mode_changes = runtime.mode_changes();
  // Why the move stops although the control plane is not quiet.
  auto cut_short = [&]() -> std::optional<Rest> {
    if (MoveEnds()) return Rest::kEnded;
    if (runtime.mode_changes() != mode_changes || (stop && stop())) return Rest::kStopped;
    if (runtime.Overrun()) return Rest::kBusy;
    return std::nullopt;
  };
  std::optional<Rest> rest;
  std::unique_lock lock(mutex);
  while (true) {
    std::uint64_t seen = changes;
    lock.unlock();
    // A timer mostly causes a chain of short pieces of work. Handing each to another thread would cost more
    // than running it here. The workers help when more than one piece is ready.
    while (!(rest = cut_short())) {
      auto piece = runtime.TakeReady();
      if (!piece) break;
      if (runtime.HasReady()) pool.List(self);
      RunPiece(runtime, *piece);
    }
    if (!rest && runtime.Quiet()) rest = Rest::kQuiet;
    lock.lock();
    if (rest) break;
    changed.wait(lock, [&] { return changes != seen || MoveEnds(); });
  }
  awaits_quiet = false;
  awaits_pieces = false;
  return *rest;
}

void LivePool::Member::RunControls(const MemberPtr& self) {
  {
    std::lock_guard clock_lock(clock);
    moved = true;
    ClockControl clock_control(runtime, [&](const ClockControl::Stop& stop) { return WorkOff(self, stop); });
    while (true) {
      {
        std::lock_guard lock(mutex);
        controls_run = !controls.empty() && !gone;
        if (!controls_run) break;
        control = std::move(controls.front());
        controls.pop_front();
      }
      control.work(clock_control);
      control = {};
      // After the move, the workers run the remaining work.
      helped = false;
      if (runtime.HasReady()) pool.List(self);
    }
    moved = false;
  }
  pool.EnqueueClock(self);
}

LivePool::LivePool(int workers) {
  threads_.emplace_back([this] { FireTimers(); });
  for (int i = 0; i < workers; ++i) threads_.emplace_back([this] { Work(); });
}

LivePool::~LivePool() { Stop(); }

void LivePool::Stop() {
  {
    std::unique_lock lock(blocking_mutex_);
    blocking_ends_ = true;
    blocking_changed_.notify_all();
    blocking_changed_.wait(lock, [this] { return blocking_threads_ == 0; });
  }
  stopping_ = true;
  ready_signal_.fetch_add(1);
  ready_signal_.notify_all();
  { std::lock_guard lock(clocks_mutex_); }
  clocks_changed_.notify_all();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

void LivePool::RunOnOwnThread(std::function<void()> work) {
  std::lock_guard lock(blocking_mutex_);
  if (blocking_ends_) return;
  blocking_work_.push_back(std::move(work));
  if (blocking_work_.size() > blocking_idle_) {
    ++blocking_threads_;
    std::thread([this] { RunBlockingWork(); }).detach();
  }
  blocking_changed_.notify_all();
}

void LivePool::RunBlockingWork() {
  std::unique_lock lock(blocking_mutex_);
  while (true) {
    if (blocking_work_.empty() && (blocking_ends_ || blocking_idle_ >= kBlockingIdleMax)) break;
    ++blocking_idle_;
    blocking_changed_.wait(lock, [this] { return !blocking_work_.empty() || blocking_ends_; });
    --blocking_idle_;
    if (blocking_work_.empty()) continue;
    std::function<void()> work = std::move(blocking_work_.front());
    blocking_work_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
  --blocking_threads_;
  blocking_changed_.notify_all();  // under the lock: Stop() may return now, and the pool be destroyed
}

void LivePool::Notified(const MemberPtr& member, Runtime::Signal signal) {
  if (signal == Runtime::Signal::kReady) return member->helped ? member->NotifyWaiters() : List(member);
  // A control plane becomes quiet many times a second, and mostly no thread waits for it.
  if (signal == Runtime::Signal::kQuiet && !member->awaits_quiet) return;
  member->NotifyWaiters();
  if (!member->moved) EnqueueClock(member);
}

void LivePool::List(const MemberPtr& member) {
  if (!member->listed.exchange(true)) {
    std::lock_guard lock(listed_mutex_);
    listed_.push_back(member);
  }
  ready_signal_.fetch_add(1);
  ready_signal_.notify_one();
}

LivePool::MemberPtr LivePool::NextListed() {
  std::lock_guard lock(listed_mutex_);
  if (listed_.empty()) return nullptr;
  MemberPtr member = std::move(listed_.front());
  listed_.pop_front();
  member->listed = false;
  return member;
}

void LivePool::Work() {
  while (!stopping_) {
    unsigned seen = ready_signal_.load();
    if (MemberPtr member = NextListed()) {
      if (!member->Enter()) continue;
      WorkOn(member);
      const bool livelocked = member->runtime.IsLivelocked();
      member->Leave();
      if (livelocked) std::this_thread::sleep_for(kLivelockPause);
      continue;
    }
    // Components react to each other within microseconds; sleeping and waking up takes longer than that.
    for (int spin = 0; spin < kSpinsBeforeSleep && ready_signal_.load() == seen; ++spin)
      std::this_thread::yield();
    if (!stopping_) ready_signal_.wait(seen);
  }
}

// Work that becomes ready later lists the control plane again. Work that is already ready on other lanes is
// left to other workers.
void LivePool::WorkOn(const MemberPtr& member) {
  Runtime& runtime = member->runtime;
  for (int i = 0; i < kPiecesInARow; ++i) {
    auto piece = runtime.TakeReady();
    if (!piece) return;
    if (i == 0 && runtime.HasReady()) List(member);
    RunPiece(runtime, *piece);
    if (member->awaits_pieces) member->NotifyWaiters();
    if (stopping_) return;
  }
  if (runtime.HasReady()) List(member);
}

void LivePool::EnqueueClock(const MemberPtr& member) {
  if (member->clock_listed.exchange(true)) return;
  {
    std::lock_guard lock(clocks_mutex_);
    clocks_.push_back(member);
  }
  clocks_changed_.notify_one();
}

void LivePool::FireTimers() {
  std::unique_lock lock(clocks_mutex_);
  while (!stopping_) {
    MemberPtr member;
    if (!clocks_.empty()) {
      member = std::move(clocks_.front());
      clocks_.pop_front();
      member->clock_listed = false;
    } else if (!waits_.empty() && waits_.begin()->first <= std::chrono::steady_clock::now()) {
      member = waits_.begin()->second;
    } else if (!waits_.empty()) {
      const WallTimePoint due =
          waits_.begin()->first;  // wait_until() reads its argument again after the wait
      clocks_changed_.wait_until(lock, due);
    } else {
      clocks_changed_.wait(lock);
    }
    if (member == nullptr) continue;
    lock.unlock();
    FireTimersOf(member);
    lock.lock();
  }
}

void LivePool::FireTimersOf(const MemberPtr& member) {
  if (member->wait) waits_.erase({*std::exchange(member->wait, std::nullopt), member});
  if (!member->Enter()) return;
  Runtime& runtime = member->runtime;
  // Skipped during a clock move, which calls EnqueueClock() at its end.
  if (std::unique_lock clock(member->clock, std::try_to_lock); clock.owns_lock()) {
    ClockMode mode = runtime.mode();
    bool fired = false;
    std::optional<std::chrono::nanoseconds> wait;
    if (mode.FollowsWall()) {
      // A scaled clock processes all consequences of one timer before the next one fires, like a virtual
      // clock.
      bool waits = mode.kind == ClockMode::Kind::kScaled;
      member->awaits_quiet = waits;
      bool may_fire = !waits || runtime.Quiet();
      fired = may_fire && runtime.FireNext(runtime.Now());
      if (may_fire) wait = runtime.WallUntilNextTimer();
    } else if (mode.kind == ClockMode::Kind::kAuto) {
      member->awaits_quiet = true;
      auto next = runtime.NextWorkTimer();
      if (next && runtime.Quiet()) {
        runtime.SkipRepeats(*next);
        fired = runtime.FireNext(*next);
      }
    } else {
      member->awaits_quiet = false;
    }
    if (fired) {
      EnqueueClock(member);
    } else if (wait) {
      member->wait = std::chrono::steady_clock::now() + *wait;
      waits_.emplace(*member->wait, member);
    }
  }
  member->Leave();
}

LiveDriver::LiveDriver(Runtime& runtime, LivePool& pool) : LiveDriver(runtime, &pool, nullptr) {}

LiveDriver::LiveDriver(Runtime& runtime, int workers)
    : LiveDriver(runtime, nullptr, std::make_unique<LivePool>(workers)) {}

LiveDriver::LiveDriver(Runtime& runtime, LivePool* pool, std::unique_ptr<LivePool> own_pool)
    : own_pool_(std::move(own_pool)),
      pool_(pool != nullptr ? *pool : *own_pool_),
      member_(std::make_shared<LivePool::Member>(pool_, runtime)) {
  runtime.SetNotify([member = member_](Runtime::Signal signal) { member->pool.Notified(member, signal); });
  // For work that was posted before SetNotify().
  pool_.List(member_);
  pool_.EnqueueClock(member_);
}

LiveDriver::~LiveDriver() { Stop(); }

void LiveDriver::EndMoves() {
  member_->moves_end = true;
  member_->NotifyWaiters();
}

void LiveDriver::Stop() {
  member_->gone = true;
  member_->runtime.Shutdown();
  EndMoves();
  member_->WaitUntilUnused();
  if (own_pool_ != nullptr) own_pool_->Stop();
}

bool LiveDriver::WaitForOutside(std::chrono::nanoseconds limit) {
  member_->awaits_quiet = true;
  std::unique_lock lock(member_->mutex);
  // After Shutdown() the runtime sends only the kQuiet signal.
  return member_->changed.wait_for(lock, limit, [this] { return !member_->runtime.OutsideUnderWay(); });
}

void LiveDriver::Control(std::function<void(ClockControl&)> work,
                         std::shared_ptr<api::CancelToken> cancelled) {
  if (cancelled != nullptr) cancelled->OnCancel([member = member_] { member->NotifyWaiters(); });
  {
    std::lock_guard lock(member_->mutex);
    member_->controls.push_back({std::move(work), std::move(cancelled)});
    if (std::exchange(member_->controls_run, true)) return;
  }
  pool_.RunOnOwnThread([member = member_] {
    if (!member->Enter()) return;
    member->RunControls(member);
    member->Leave();
  });
}

}  // namespace terrarium::testbed
