#include "testbed/runtime/runtime.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "api/base/errors.h"
#include "api/base/repeating_timer.h"

namespace terrarium::testbed {

using api::Duration;
using api::Time;
using api::TimerId;
using api::TimerKind;

api::Result<ClockMode> ClockMode::Parse(const std::string& text) {
  if (text == "real") return ClockMode{Kind::kReal, 1};
  if (text == "virtual") return ClockMode{Kind::kVirtual, 1};
  if (text == "auto") return ClockMode{Kind::kAuto, 1};
  constexpr std::string_view kScaledPrefix = "scaled=";
  if (text.starts_with(kScaledPrefix)) {
    double factor = 0;
    const char* first = text.data() + kScaledPrefix.size();
    const char* last = text.data() + text.size();
    auto [end, error] = std::from_chars(first, last, factor);
    if (error == std::errc() && end == last && factor > 0 && factor <= 1e6)
      return ClockMode{Kind::kScaled, factor};
    return api::BadRequest("clock mode " + text + ": the factor is a number above 0 and at most 1000000");
  }
  return api::BadRequest("clock mode " + text + " must be one of real, scaled=N, virtual and auto");
}

std::string ClockMode::String() const {
  switch (kind) {
    case Kind::kReal: return "real";
    case Kind::kVirtual: return "virtual";
    case Kind::kAuto: return "auto";
    case Kind::kScaled: break;
  }
  char text[32];
  auto [end, error] = std::to_chars(text, text + sizeof text, factor);
  return "scaled=" + std::string(text, error == std::errc() ? end : text);
}

// The executor that a component sees.
class Runtime::LaneExecutor : public api::Executor, public api::RepeatingTimers {
 public:
  LaneExecutor(Impl& runtime, std::size_t index) : runtime_(runtime), index_(index) {}
  void Post(std::function<void()> work) override;
  TimerId PostTimer(TimerKind kind, Duration delay, std::function<void()> work) override;
  TimerId PostRepeating(Duration period, Duration delay, std::function<void()> work) override;
  bool Cancel(TimerId id) override;
  void OutsideStarted() override;
  void OutsideEnded() override;

 private:
  Impl& runtime_;
  std::size_t index_;
};

class Runtime::Impl {
 public:
  explicit Impl(RuntimeOptions options)
      : options_(std::move(options)), prng_(options_.seed), base_(options_.start) {
    SetMode(options_.mode);
  }

  Time Now() const {
    std::lock_guard lock(time_mutex_);
    return NowLocked();
  }

  ClockMode mode() const {
    std::lock_guard lock(time_mutex_);
    return mode_;
  }

  void SetMode(ClockMode mode) {
    if (!options_.wall && mode.FollowsWall()) mode.kind = ClockMode::Kind::kVirtual;
    {
      std::lock_guard lock(time_mutex_);
      base_ = NowLocked();
      if (options_.wall) base_wall_ = options_.wall();
      mode_ = mode;
      ++mode_changes_;
    }
    Notify(Signal::kTimers);
  }

  std::uint64_t mode_changes() const { return mode_changes_; }

  void BeginInstant() {
    std::lock_guard lock(mutex_);
    BeginInstantLocked();
  }

  bool Overrun() { return Exceeded(instant_work_); }
  bool IsLivelocked() { return !mode().FollowsWall() && Exceeded(work_since_quiet_); }
  void OnRequest() {
    work_since_quiet_.Reset();
    Unsettle();
  }

  void Unsettle() {
    std::lock_guard lock(mutex_);
    UnsettleLocked(Now());
  }

  std::shared_ptr<void> HoldSkips() {
    ++*skip_holds_;
    return {nullptr, [holds = skip_holds_](void*) { --*holds; }};
  }

  void SkipRepeats(Time until) {
    if (mode().FollowsWall() || *skip_holds_ > 0) return;
    std::lock_guard lock(mutex_);
    const Time now = Now();
    if (!IsQuiet() || now <= settled_at_) return;
    std::vector<TimerKey> repeating;
    for (auto it = timers_.begin(); it != timers_.end() && it->first.due < until; ++it) {
      if (it->second.period == Duration::zero()) {
        until = it->first.due;
        break;
      }
      repeating.push_back(it->first);
    }
    const Time to = until - kUnskipped;
    if (to - now < kLeastSkip) return;
    for (const TimerKey& key : repeating)
      if (key.due < to) Postpone(key, to);
    TimersChanged();
  }

  std::string BusiestLane() const {
    std::lock_guard lock(mutex_);
    std::string busiest;
    std::int64_t most = 0;
    for (const auto& [name, index] : names_) {
      const LaneState& lane = *lanes_[index];
      if (lane.instant != instant_ || lane.instant_pieces <= most) continue;
      most = lane.instant_pieces;
      busiest = name;
    }
    return busiest;
  }

  void SetInstantPieces(std::function<std::int64_t()> allowed) {
    instant_pieces_allowed_ = std::move(allowed);
  }

  api::Executor& Lane(const std::string& name) {
    std::lock_guard lock(mutex_);
    auto [it, fresh] = names_.emplace(name, lanes_.size());
    if (fresh) {
      lanes_.push_back(std::make_unique<LaneState>());
      lanes_.back()->executor = std::make_unique<LaneExecutor>(*this, it->second);
    }
    return *lanes_[it->second]->executor;
  }

  void Post(std::size_t lane, std::function<void()> work) {
    {
      std::lock_guard lock(mutex_);
      if (stopped_) return;
      PushReady(lane, {std::move(work), 0});
    }
    Notify(Signal::kReady);
  }

  // `period`: zero, or that of a repeating timer.
  TimerId PostTimer(std::size_t lane, TimerKind kind, Duration period, Duration delay,
                    std::function<void()> work) {
    const Time now = Now();
    // One that would be due after the end of time never fires.
    const Time due = delay > kLastTime - now ? Time::max() : now + std::max(delay, Duration::zero());
    TimerId id = 0;
    bool first = false;
    {
      std::lock_guard lock(mutex_);
      if (stopped_) return 0;
      id = next_id_++;
      // Timers of one instant fire in an order that the seed decides.
      TimerKey key{due, options_.seeded_order ? prng_.Next() : 0, id};
      first = timers_.empty() || key < timers_.begin()->first;
      timers_.emplace(key, Timer{lane, period, std::move(work)});
      if (kind == TimerKind::kWork) work_timers_.insert(key);
      keys_.emplace(id, key);
      TimersChanged();
    }
    if (first) Notify(Signal::kTimers);
    return id;
  }

  bool Cancel(TimerId id) {
    std::function<void()> dropped;  // what it holds is let go without the lock
    std::lock_guard lock(mutex_);
    if (fired_.erase(id) > 0) return true;  // its work is ready but has not begun
    auto it = keys_.find(id);
    if (it == keys_.end()) return false;
    auto timer = timers_.find(it->second);
    dropped = std::move(timer->second.work);
    work_timers_.erase(it->second);
    timers_.erase(timer);
    keys_.erase(it);
    TimersChanged();
    return true;
  }

  void ChangeOutside(int change) {
    bool quiet = false;
    {
      std::lock_guard lock(mutex_);
      outside_ += change;
      quiet = IsQuiet();
    }
    if (quiet) Notify(Signal::kQuiet);
  }

  std::optional<Piece> TakeReady() {
    std::vector<std::function<void()>> cancelled;
    std::lock_guard lock(mutex_);
    while (!ready_lanes_.empty()) {
      std::size_t lane = TakeLane();
      LaneState& state = *lanes_[lane];
      Ready ready = std::move(state.ready.front());
      state.ready.pop_front();
      --ready_count_;
      if (ready.timer != 0 && fired_.erase(ready.timer) == 0) {
        cancelled.push_back(std::move(ready.work));
        if (!state.ready.empty()) ready_lanes_.push_back(lane);
        continue;
      }
      state.running = true;
      ++running_;
      if (std::exchange(state.instant, instant_) != instant_) state.instant_pieces = 0;
      ++state.instant_pieces;
      ++instant_work_.pieces;
      ++work_since_quiet_.pieces;
      return Piece{lane, std::move(ready.work)};
    }
    return std::nullopt;
  }

  void Finished(std::size_t lane) {
    bool more = false, quiet = false;
    {
      std::lock_guard lock(mutex_);
      LaneState& state = *lanes_[lane];
      state.running = false;
      --running_;
      more = !state.ready.empty();
      if (more) ready_lanes_.push_back(lane);
      quiet = IsQuiet();
      if (quiet) work_since_quiet_.Reset();
    }
    if (more) Notify(Signal::kReady);
    if (quiet) Notify(Signal::kQuiet);
  }

  bool Quiet() const {
    std::lock_guard lock(mutex_);
    return IsQuiet();
  }
  bool OutsideUnderWay() const {
    std::lock_guard lock(mutex_);
    return outside_ > 0;
  }

  bool HasReady() const {
    std::lock_guard lock(mutex_);
    return !ready_lanes_.empty();
  }

  std::optional<Time> NextTimer() const {
    std::lock_guard lock(mutex_);
    if (timers_.empty() || timers_.begin()->first.due > kLastTime) return std::nullopt;
    return timers_.begin()->first.due;
  }
  std::optional<Time> NextWorkTimer() const {
    std::lock_guard lock(mutex_);
    if (work_timers_.empty() || work_timers_.begin()->due > kLastTime) return std::nullopt;
    return work_timers_.begin()->due;
  }

  bool FireNext(Time until) {
    until = std::min(until, mode().FollowsWall() ? Now() : kLastTime);
    {
      std::lock_guard lock(mutex_);
      if (timers_.empty() || timers_.begin()->first.due > until) return false;
      auto first = timers_.begin();
      if (MoveTimeTo(first->first.due)) BeginInstantLocked();
      TimerId id = first->first.id;
      if (first->second.period == Duration::zero()) UnsettleLocked(Now());
      PushReady(first->second.lane, {std::move(first->second.work), id});
      fired_.insert(id);
      work_timers_.erase(first->first);
      keys_.erase(id);
      timers_.erase(first);
      TimersChanged();
    }
    Notify(Signal::kReady);
    return true;
  }

  // Never back: a clock that follows the wall is ahead of its timers already. Whether it moved.
  bool MoveTimeTo(Time time) {
    std::lock_guard lock(time_mutex_);
    time = std::min(time, kLastTime);
    if (mode_.FollowsWall() || time <= base_) return false;
    base_ = time;
    return true;
  }

  void NotBefore(Time time) {
    std::lock_guard lock(time_mutex_);
    if (Time now = NowLocked(); now < time) base_ += time - now;
  }

  std::optional<std::chrono::nanoseconds> WallUntilNextTimer() const {
    auto next = NextTimer();
    if (!next) return std::nullopt;
    std::lock_guard lock(time_mutex_);
    std::chrono::duration<double, std::nano> left = *next - NowLocked();
    // At most a day, after which the caller asks again: the range of nanoseconds is shorter than that of
    // Time.
    constexpr double kMost = std::chrono::nanoseconds(std::chrono::days(1)).count();
    return std::chrono::nanoseconds(
        static_cast<std::int64_t>(std::clamp(left.count() / mode_.factor, 0.0, kMost)));
  }

  void SetNotify(std::function<void(Signal)> notify) { notify_ = std::move(notify); }

  void Shutdown() {
    std::map<TimerKey, Timer> timers;
    std::vector<std::deque<Ready>> dropped;
    {
      std::lock_guard lock(mutex_);
      stopped_ = true;
      timers.swap(timers_);
      TimersChanged();
      work_timers_.clear();
      keys_.clear();
      fired_.clear();
      ready_lanes_.clear();
      ready_count_ = 0;
      for (auto& lane : lanes_) dropped.push_back(std::exchange(lane->ready, {}));
    }
    Notify(Signal::kQuiet);
  }

 private:
  struct TimerKey {
    Time due;
    std::uint64_t tie;
    TimerId id;
    friend auto operator<=>(const TimerKey&, const TimerKey&) = default;
  };
  struct Timer {
    std::size_t lane;
    Duration period;  // of a repeating timer; otherwise zero
    std::function<void()> work;
  };
  struct Ready {
    std::function<void()> work;
    TimerId timer;  // 0: posted
  };
  struct LaneState {
    std::unique_ptr<LaneExecutor> executor;
    std::deque<Ready> ready;
    bool running = false;
    std::uint64_t instant = 0;        // in which it last ran
    std::int64_t instant_pieces = 0;  // of that instant
  };

  Time NowLocked() const {
    if (!mode_.FollowsWall()) return base_;
    std::chrono::duration<double, std::nano> passed = options_.wall() - base_wall_;
    // Compared as floating point: the product may exceed the range of Duration.
    const auto scaled = passed * mode_.factor;
    Time now = scaled >= kLastTime - base_ ? kLastTime : base_ + std::chrono::duration_cast<Duration>(scaled);
    if (mode_.kind == ClockMode::Kind::kReal) return now;
    // A fast clock does not pass a timer that has not fired: a machine that cannot keep up slows it down
    // instead of making heartbeats late.
    now = std::min(now, Time(Duration(next_due_.load())));
    return last_ = std::max(last_, now);
  }

  void PushReady(std::size_t lane, Ready ready) {
    LaneState& state = *lanes_[lane];
    state.ready.push_back(std::move(ready));
    ++ready_count_;
    if (!state.running && state.ready.size() == 1) ready_lanes_.push_back(lane);
  }

  std::size_t TakeLane() {
    std::size_t at = options_.seeded_order ? prng_.Below(ready_lanes_.size()) : 0;
    std::size_t lane = ready_lanes_[at];
    ready_lanes_.erase(ready_lanes_.begin() + static_cast<std::ptrdiff_t>(at));
    return lane;
  }

  // A shorter skip is not worth its consequences.
  static constexpr Duration kLeastSkip = std::chrono::seconds(30);

  // REQUIRES: mutex_ is held
  void UnsettleLocked(Time now) { settled_at_ = now + kSettleTime; }

  // Moves the repeating timer to its first occurrence at or after `time`. REQUIRES: mutex_ is held
  void Postpone(const TimerKey& key, Time time) {
    auto timer = timers_.extract(key);
    const Duration period = timer.mapped().period;
    timer.key().due += (time - key.due + period - Duration(1)) / period * period;
    keys_[key.id] = timer.key();
    timers_.insert(std::move(timer));
  }

  // REQUIRES: mutex_ is held
  void BeginInstantLocked() {
    ++instant_;
    instant_work_.Reset();
  }

  // Pieces of work counted against the bound on one instant.
  struct BoundedWork {
    std::atomic<std::int64_t> pieces = 0;
    std::atomic<std::int64_t> allowed = kInstantPiecesUnchecked;  // as far as it has been asked for

    void Reset() {
      pieces = 0;
      allowed = kInstantPiecesUnchecked;
    }
  };
  // Asks for the bound only when the last one is used up, since that counts the objects of the store.
  bool Exceeded(BoundedWork& work) {
    const std::int64_t pieces = work.pieces;
    if (pieces <= work.allowed) return false;
    work.allowed = std::max(kInstantPiecesUnchecked, instant_pieces_allowed_());
    return pieces > work.allowed;
  }

  // REQUIRES: mutex_ is held
  void TimersChanged() {
    next_due_ = timers_.empty() ? std::numeric_limits<std::int64_t>::max()
                                : timers_.begin()->first.due.time_since_epoch().count();
  }

  bool IsQuiet() const { return ready_count_ == 0 && running_ == 0 && outside_ == 0; }

  void Notify(Signal signal) {
    if (notify_) notify_(signal);
  }

  RuntimeOptions options_;
  std::function<void(Signal)> notify_;

  mutable std::mutex mutex_;
  api::Prng prng_;
  std::map<std::string, std::size_t> names_;
  std::vector<std::unique_ptr<LaneState>> lanes_;
  std::deque<std::size_t> ready_lanes_;  // lanes with ready work that are not running
  std::map<TimerKey, Timer> timers_;
  std::set<TimerKey> work_timers_;
  std::map<TimerId, TimerKey> keys_;
  std::set<TimerId> fired_;  // ready, and still to be cancelled
  TimerId next_id_ = 1;
  std::size_t ready_count_ = 0;
  std::size_t running_ = 0;
  int outside_ = 0;
  bool stopped_ = false;
  Time settled_at_{};  // no occurrence of a repeating timer is skipped before
  std::shared_ptr<std::atomic<int>> skip_holds_ = std::make_shared<std::atomic<int>>(0);
  std::uint64_t instant_ = 1;  // counts them
  BoundedWork instant_work_;
  BoundedWork work_since_quiet_;
  std::function<std::int64_t()> instant_pieces_allowed_ = [] { return kInstantPieces; };

  mutable std::mutex time_mutex_;  // taken after mutex_
  mutable Time last_{};            // the newest time that a scaled clock has shown
  // When the first timer is due; written under mutex_.
  std::atomic<std::int64_t> next_due_ = std::numeric_limits<std::int64_t>::max();
  ClockMode mode_{ClockMode::Kind::kVirtual, 1};
  std::atomic<std::uint64_t> mode_changes_ = 0;  // written under time_mutex_
  Time base_;
  std::chrono::nanoseconds base_wall_{};
};

void Runtime::LaneExecutor::Post(std::function<void()> work) { runtime_.Post(index_, std::move(work)); }
TimerId Runtime::LaneExecutor::PostTimer(TimerKind kind, Duration delay, std::function<void()> work) {
  return runtime_.PostTimer(index_, kind, Duration::zero(), delay, std::move(work));
}
TimerId Runtime::LaneExecutor::PostRepeating(Duration period, Duration delay, std::function<void()> work) {
  return runtime_.PostTimer(index_, TimerKind::kBackground, period, delay, std::move(work));
}
bool Runtime::LaneExecutor::Cancel(TimerId id) { return runtime_.Cancel(id); }
void Runtime::LaneExecutor::OutsideStarted() { runtime_.ChangeOutside(1); }
void Runtime::LaneExecutor::OutsideEnded() { runtime_.ChangeOutside(-1); }

Runtime::Runtime(RuntimeOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Runtime::~Runtime() = default;

Time Runtime::Now() const { return impl_->Now(); }
api::Executor& Runtime::Lane(const std::string& name) { return impl_->Lane(name); }
ClockMode Runtime::mode() const { return impl_->mode(); }
void Runtime::SetMode(ClockMode mode) { impl_->SetMode(mode); }
std::uint64_t Runtime::mode_changes() const { return impl_->mode_changes(); }
std::optional<Runtime::Piece> Runtime::TakeReady() { return impl_->TakeReady(); }
void Runtime::Finished(const Piece& piece) { impl_->Finished(piece.lane); }
bool Runtime::Quiet() const { return impl_->Quiet(); }
bool Runtime::OutsideUnderWay() const { return impl_->OutsideUnderWay(); }
bool Runtime::HasReady() const { return impl_->HasReady(); }
std::optional<Time> Runtime::NextTimer() const { return impl_->NextTimer(); }
std::optional<Time> Runtime::NextWorkTimer() const { return impl_->NextWorkTimer(); }
bool Runtime::FireNext(Time until) { return impl_->FireNext(until); }
void Runtime::MoveTo(Time time) {
  if (impl_->MoveTimeTo(time)) impl_->BeginInstant();
}
void Runtime::BeginInstant() { impl_->BeginInstant(); }
bool Runtime::Overrun() { return impl_->Overrun(); }
bool Runtime::IsLivelocked() { return impl_->IsLivelocked(); }
void Runtime::OnRequest() { impl_->OnRequest(); }
void Runtime::SkipRepeats(Time until) { impl_->SkipRepeats(until); }
void Runtime::Unsettle() { impl_->Unsettle(); }
std::shared_ptr<void> Runtime::HoldSkips() { return impl_->HoldSkips(); }
std::string Runtime::BusiestLane() const { return impl_->BusiestLane(); }
void Runtime::SetInstantPieces(std::function<std::int64_t()> allowed) {
  impl_->SetInstantPieces(std::move(allowed));
}
std::optional<std::chrono::nanoseconds> Runtime::WallUntilNextTimer() const {
  return impl_->WallUntilNextTimer();
}
void Runtime::NotBefore(Time time) { impl_->NotBefore(time); }
void Runtime::SetNotify(std::function<void(Signal)> notify) { impl_->SetNotify(std::move(notify)); }
void Runtime::Shutdown() { impl_->Shutdown(); }

}  // namespace terrarium::testbed
