#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>

#include "api/base/executor.h"

namespace terrarium::testbed {

// What a server does every few seconds, whatever its clients do: `check`, and giving memory that a burst of
// requests has left over back to the system. Thread-safe.
class Upkeep {
 public:
  // `executor` outlives it.
  Upkeep(api::Executor& executor, std::function<void()> check);
  ~Upkeep() { Stop(); }
  // Returns when nothing of it runs any more. Idempotent.
  void Stop();

 private:
  void Arm();
  void Run();

  api::Executor& executor_;
  const std::function<void()> check_;
  std::mutex mutex_;
  bool stopped_ = false;  // guarded by mutex_, as the rest
  api::TimerId timer_ = 0;
  std::chrono::microseconds cpu_before_{};
};

}  // namespace terrarium::testbed
