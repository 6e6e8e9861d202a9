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

// What clients are told of a server that is down, and of one that went down before it answered.
inline constexpr std::string_view kDownMessage = "the apiserver is down: connection refused";
inline constexpr std::string_view kCrashedMessage =
    "the apiserver crashed before it answered: the request may or may not have been carried out";

// One run of an apiserver, from its start to its end, as those notice who are connected to it. Thread-safe.
class Uptime : public std::enable_shared_from_this<Uptime> {
 public:
  bool ended() const { return state_ != State::kUp; }
  // It ended without a goodbye: what was sent and not answered may or may not have happened.
  bool crashed() const { return state_ == State::kCrashed; }

  // Somebody's wish to be told of the end; given up when destroyed.
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
  // `told` is called once, at the end or at once when that has come, without locks held and in the order of the calls of
  // this method. It must not block, and it may come while or after the listener is destroyed: it holds what it needs by
  // weak or shared pointers.
  std::unique_ptr<Listener> OnEnd(std::function<void()> told);

  // Only the first call does something.
  void End(bool crash);

 private:
  enum class State { kUp, kStopped, kCrashed };
  void Forget(std::uint64_t id);

  std::atomic<State> state_ = State::kUp;
  std::mutex mutex_;
  std::map<std::uint64_t, std::function<void()>> told_;  // guarded by mutex_
  std::uint64_t last_id_ = 0;
};

}  // namespace terrarium::apiserver
