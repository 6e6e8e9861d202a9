#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>

#include "api/base/executor.h"

namespace terrarium::testbed {

// The memory that the allocator has obtained from the system.
struct HeapSize {
  std::size_t in_use = 0;
  std::size_t free = 0;  // could be returned to the system
};

// Whether to return free memory to the system, for a process that has used `cpu_share` of a core lately.
bool ShouldReleaseMemory(const HeapSize& heap, double cpu_share);

// Periodic work of a server: calls `check`, and returns memory that a burst of requests has freed to the
// system. Thread-safe.
class Upkeep {
 public:
  // The process and its allocator.
  struct Process {
    std::function<std::chrono::microseconds()> cpu_time;
    std::function<std::optional<HeapSize>()> heap;  // nullopt: the allocator does not report it
    std::function<void()> release_memory;
  };
  static Process ThisProcess();

  // `executor` outlives it.
  Upkeep(api::Executor& executor, std::function<void()> check, Process process = ThisProcess());
  ~Upkeep() { Stop(); }
  // Waits for running work. Idempotent.
  void Stop();

 private:
  void Arm();
  void Run();

  api::Executor& executor_;
  const std::function<void()> check_;
  const Process process_;
  std::mutex mutex_;
  bool stopped_ = false;  // guarded by mutex_, as the rest
  api::TimerId timer_ = 0;
  std::chrono::microseconds cpu_before_{};
};

}  // namespace terrarium::testbed
