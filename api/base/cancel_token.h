#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace terrarium::api {

// Notifies the code that works for a caller that the caller no longer wants the result. Thread-safe.
class CancelToken {
 public:
  bool cancelled() const { return cancelled_; }

  // Only the first call has an effect. Runs the callbacks on the caller's thread, without locks held.
  void Cancel() {
    std::vector<std::function<void()>> callbacks;
    {
      std::lock_guard lock(mutex_);
      if (cancelled_.exchange(true)) return;
      callbacks.swap(callbacks_);
    }
    for (const auto& callback : callbacks) callback();
  }

  // Calls `callback` once: on cancellation, or immediately if the token is already cancelled. The callback
  // must not block. The token destroys it at the latest when the token itself is destroyed.
  void OnCancel(std::function<void()> callback) {
    {
      std::lock_guard lock(mutex_);
      if (!cancelled_) return callbacks_.push_back(std::move(callback));
    }
    callback();
  }

 private:
  std::atomic<bool> cancelled_ = false;
  std::mutex mutex_;
  std::vector<std::function<void()>> callbacks_;  // guarded by mutex_
};

}  // namespace terrarium::api
