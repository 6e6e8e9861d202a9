#pragma once

#include <functional>
#include <mutex>
#include <utility>

namespace terrarium::apiserver {

// Holds the function that wakes the reader of a stream. Shared with timers and event sources, which may
// outlive the stream. Thread-safe.
class WakeSlot {
 public:
  void Set(std::function<void()> wake) {
    std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
  }
  void Wake() {
    std::function<void()> call;
    {
      std::lock_guard lock(mutex_);
      call = wake_;
    }
    if (call) call();
  }

 private:
  std::mutex mutex_;
  std::function<void()> wake_;  // guarded by mutex_
};

}  // namespace terrarium::apiserver
