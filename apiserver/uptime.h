#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

namespace terrarium::apiserver {

// The error messages of a server that is down, and of a server that crashed before it responded.
inline constexpr std::string_view kDownMessage = "the apiserver is down: connection refused";
inline constexpr std::string_view kCrashedMessage =
    "the apiserver crashed before it answered: the request may or may not have been carried out";

// One run of an apiserver, from its start to its end, as its clients observe it. It also represents the time
// for which a registered resource is served. Thread-safe.
class Uptime : public std::enable_shared_from_this<Uptime> {
 public:
  bool ended() const { return state_ != State::kUp; }
  // The run ended abruptly: a request without a response may or may not have been carried out.
  bool crashed() const { return state_ == State::kCrashed; }

  // A subscription to the end of the run. Destroying it cancels the subscription.
  class Listener {
   public:
    Listener(std::shared_ptr<Uptime> uptime, std::uint64_t id) : uptime_(std::move(uptime)), id_(id) {}
    ~Listener() { uptime_->Forget(id_); }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

   private:
    std::shared_ptr<Uptime> uptime_;
    std::uint64_t id_;
  };
  // Calls `callback` once: when the run ends, or immediately if it has ended already. Callbacks run without
  // locks held, in the order in which they were registered. `callback` must not block. It may run during or
  // after the destruction of the listener, so it holds what it needs by weak or shared pointers.
  std::unique_ptr<Listener> OnEnd(std::function<void()> callback);

  // Only the first call has an effect.
  void End(bool crash);

 private:
  enum class State { kUp, kStopped, kCrashed };
  void Forget(std::uint64_t id);

  std::atomic<State> state_ = State::kUp;
  std::mutex mutex_;
  std::map<std::uint64_t, std::function<void()>> callbacks_;  // guarded by mutex_
  std::uint64_t last_id_ = 0;
};

}  // namespace terrarium::apiserver
