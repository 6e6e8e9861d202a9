#include "controllers/runtime/work_queue.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

#include "api/base/check.h"
#include "api/base/executor.h"

namespace terrarium::controllers {
namespace {

// How often the gauges of unfinished work are updated while there is any, as in client-go.
constexpr api::Duration kUnfinishedPeriod = std::chrono::milliseconds(500);

// base * 2^failures, up to `most`.
api::Duration Backoff(const RetryLimits& limits, int failures) {
  double delay = static_cast<double>(limits.base.count()) * std::exp2(failures);
  if (delay >= static_cast<double>(limits.most.count())) return limits.most;
  return api::Duration(static_cast<api::Duration::rep>(delay));
}

// A token bucket that may be overdrawn: Take() returns how long the caller must wait for its token.
class TokenBucket {
 public:
  TokenBucket(double per_second, int burst, api::Time now)
      : per_second_(per_second), burst_(burst), tokens_(burst), last_(now) {}

  api::Duration Take(api::Time now) {
    if (per_second_ <= 0) return api::Duration::zero();
    double elapsed = std::chrono::duration<double>(now - last_).count();
    tokens_ = std::min(burst_, tokens_ + elapsed * per_second_) - 1;
    last_ = now;
    if (tokens_ >= 0) return api::Duration::zero();
    return std::chrono::duration_cast<api::Duration>(std::chrono::duration<double>(-tokens_ / per_second_));
  }

 private:
  double per_second_;
  double burst_;
  double tokens_;
  api::Time last_;
};

}  // namespace

class WorkQueue::Impl : public std::enable_shared_from_this<WorkQueue::Impl> {
 public:
  Impl(const api::Env& env, Metrics& metrics, std::string name, RetryLimits limits)
      : env_(env),
        metrics_(metrics),
        name_(std::move(name)),
        limits_(limits),
        bucket_(limits.per_second, limits.burst, env.clock.Now()) {
    metrics_.QueueDepth(name_, 0);
  }
  ~Impl() {
    if (due_timer_ != 0) env_.executor.Cancel(due_timer_);
    if (unfinished_timer_ != 0) env_.executor.Cancel(unfinished_timer_);
  }

  void Add(const ObjectName& key) { MarkPending(*keys_.try_emplace(key).first); }

  void AddAfter(const ObjectName& key, api::Duration delay) {
    metrics_.QueueRetried(name_);
    Node& node = *keys_.try_emplace(key).first;
    if (delay <= api::Duration::zero()) return MarkPending(node);
    api::Time due = env_.clock.Now() + delay;
    if (std::optional<Due>& before = node.second.due) {
      if (std::get<api::Time>(*before) <= due) return;
      delayed_.erase(*before);
    }
    node.second.due = Due{due, ++arrivals_};
    delayed_.emplace(*node.second.due, &node);
    ArmDueTimer();
  }

  void AddRateLimited(const ObjectName& key) {
    State& state = keys_.try_emplace(key).first->second;
    // Always takes a token, even when the key's own backoff is longer.
    api::Duration common = bucket_.Take(env_.clock.Now());
    api::Duration own = Backoff(limits_, state.failures++);
    AddAfter(key, std::max(own, common));
  }

  void Forget(const ObjectName& key) {
    auto it = keys_.find(key);
    if (it == keys_.end()) return;
    it->second.failures = 0;
    EraseIfIdle(it);
  }

  int Requeues(const ObjectName& key) const {
    auto it = keys_.find(key);
    return it == keys_.end() ? 0 : it->second.failures;
  }

  std::optional<ObjectName> TryPop() {
    if (ready_.empty()) return std::nullopt;
    Node& node = *ready_.front();
    ready_.pop_front();
    State& state = node.second;
    state.pending = false;
    state.in_flight = true;
    state.popped = env_.clock.Now();
    metrics_.QueueDepth(name_, --pending_);
    metrics_.QueueWaited(name_, state.popped - state.added);
    in_flight_.emplace(&node.first, state.popped);
    ArmUnfinishedTimer();
    return node.first;
  }

  void Done(const ObjectName& key) {
    auto it = keys_.find(key);
    CHECK(it != keys_.end());
    State& state = it->second;
    CHECK(state.in_flight);
    state.in_flight = false;
    in_flight_.erase(&it->first);
    metrics_.QueueWorked(name_, env_.clock.Now() - state.popped);
    if (state.pending) return MakeReady(*it);
    EraseIfIdle(it);
  }

  void SetReady(std::function<void()> ready) { became_ready_ = std::move(ready); }
  std::size_t depth() const { return ready_.size(); }

 private:
  using Due = std::tuple<api::Time, std::uint64_t>;  // ties break by order of arrival
  struct State {
    bool pending = false;  // ready, or parked until Done()
    bool in_flight = false;
    int failures = 0;
    api::Time added{};   // when it became pending
    api::Time popped{};  // when it was handed out
    std::optional<Due> due;
  };
  using Keys = std::map<ObjectName, State>;
  using Node = Keys::value_type;

  void MarkPending(Node& node) {
    State& state = node.second;
    if (state.pending) return;
    state.pending = true;
    state.added = env_.clock.Now();
    metrics_.QueueAdded(name_);
    // A parked key counts toward the depth, as in client-go.
    metrics_.QueueDepth(name_, ++pending_);
    if (!state.in_flight) MakeReady(node);
  }

  void MakeReady(Node& node) {
    ready_.push_back(&node);
    if (ready_.size() == 1 && became_ready_) became_ready_();
  }

  void EraseIfIdle(Keys::iterator it) {
    const State& state = it->second;
    if (!state.pending && !state.in_flight && state.failures == 0 && !state.due) keys_.erase(it);
  }

  void ArmDueTimer() {
    if (delayed_.empty()) return;
    api::Time first = std::get<api::Time>(delayed_.begin()->first);
    if (due_timer_ != 0) {
      if (due_timer_at_ <= first) return;
      env_.executor.Cancel(due_timer_);
    }
    due_timer_at_ = first;
    due_timer_ = env_.executor.PostAfter(first - env_.clock.Now(), [weak = weak_from_this(), first] {
      // A replaced timer may have been posted already.
      if (auto self = weak.lock(); self && self->due_timer_at_ == first) self->TakeDue();
    });
  }

  void TakeDue() {
    due_timer_ = 0;
    api::Time now = env_.clock.Now();
    while (!delayed_.empty() && std::get<api::Time>(delayed_.begin()->first) <= now) {
      Node& node = *delayed_.begin()->second;
      delayed_.erase(delayed_.begin());
      node.second.due.reset();
      MarkPending(node);
    }
    ArmDueTimer();
  }

  void ArmUnfinishedTimer() {
    if (unfinished_timer_ != 0) return;
    unfinished_timer_ = env_.executor.PostInBackground(kUnfinishedPeriod, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->ReportUnfinished();
    });
  }

  // Repeats only while a key is in flight, so that an idle queue costs nothing.
  void ReportUnfinished() {
    unfinished_timer_ = 0;
    api::Time now = env_.clock.Now();
    api::Duration sum{};
    api::Duration longest{};
    for (const auto& [key, since] : in_flight_) {
      sum += now - since;
      longest = std::max(longest, now - since);
    }
    metrics_.QueueUnfinished(name_, sum, longest);
    if (!in_flight_.empty()) ArmUnfinishedTimer();
  }

  api::Env env_;
  Metrics& metrics_;
  const std::string name_;
  const RetryLimits limits_;
  TokenBucket bucket_;
  std::function<void()> became_ready_;

  Keys keys_;  // keys with state to remember
  std::deque<Node*> ready_;
  std::map<Due, Node*> delayed_;
  std::map<const ObjectName*, api::Time> in_flight_;
  std::size_t pending_ = 0;
  std::uint64_t arrivals_ = 0;

  api::TimerId due_timer_ = 0;
  api::Time due_timer_at_{};
  api::TimerId unfinished_timer_ = 0;
};

WorkQueue::WorkQueue(const api::Env& env, Metrics& metrics, std::string name, RetryLimits limits)
    : impl_(std::make_shared<Impl>(env, metrics, std::move(name), limits)) {}
WorkQueue::~WorkQueue() = default;

void WorkQueue::Add(const ObjectName& key) { impl_->Add(key); }
void WorkQueue::AddAfter(const ObjectName& key, api::Duration delay) { impl_->AddAfter(key, delay); }
void WorkQueue::AddRateLimited(const ObjectName& key) { impl_->AddRateLimited(key); }
void WorkQueue::Forget(const ObjectName& key) { impl_->Forget(key); }
int WorkQueue::Requeues(const ObjectName& key) const { return impl_->Requeues(key); }
std::optional<ObjectName> WorkQueue::TryPop() { return impl_->TryPop(); }
void WorkQueue::Done(const ObjectName& key) { impl_->Done(key); }
void WorkQueue::SetReady(std::function<void()> ready) { impl_->SetReady(std::move(ready)); }
std::size_t WorkQueue::depth() const { return impl_->depth(); }

}  // namespace terrarium::controllers
