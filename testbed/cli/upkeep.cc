#include "testbed/cli/upkeep.h"

#include <cstddef>
#include <utility>

#include <sys/resource.h>

// Functions of gperftools, the allocator of release builds. They are null in builds with another allocator.
extern "C" {
__attribute__((weak)) int MallocExtension_GetNumericProperty(const char* property, std::size_t* value);
__attribute__((weak)) void MallocExtension_ReleaseFreeMemory(void);
}

namespace terrarium::testbed {
namespace {

constexpr std::chrono::seconds kPeriod(5);
// A server that uses less than this share of a core is idle: it has time to return memory to the system and
// will not need it soon.
constexpr double kIdleShare = 0.1;
// Releasing less than this is not worth the page faults of the next burst.
constexpr std::size_t kKeptBytes = std::size_t{32} << 20;

std::chrono::microseconds CpuTime() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

void ReleaseFreeMemory() {
  if (MallocExtension_GetNumericProperty == nullptr || MallocExtension_ReleaseFreeMemory == nullptr) return;
  std::size_t free_bytes = 0;
  if (MallocExtension_GetNumericProperty("tcmalloc.pageheap_free_bytes", &free_bytes) == 0) return;
  if (free_bytes > kKeptBytes) MallocExtension_ReleaseFreeMemory();
}

}  // namespace

Upkeep::Upkeep(api::Executor& executor, std::function<void()> check)
    : executor_(executor), check_(std::move(check)), cpu_before_(CpuTime()) {
  std::lock_guard lock(mutex_);
  Arm();
}

void Upkeep::Stop() {
  std::lock_guard lock(mutex_);
  if (std::exchange(stopped_, true)) return;
  executor_.Cancel(timer_);
}

void Upkeep::Arm() {
  timer_ = executor_.PostInBackground(kPeriod, [this] { Run(); });
}

// A timer that fires during Stop() finds `stopped_` set, because both take the lock. The owner must stop the
// executor after Stop() and before it destroys this object.
void Upkeep::Run() {
  std::lock_guard lock(mutex_);
  if (stopped_) return;
  check_();
  const std::chrono::microseconds cpu = CpuTime();
  if (cpu - std::exchange(cpu_before_, cpu) < kPeriod * kIdleShare) ReleaseFreeMemory();
  Arm();
}

}  // namespace terrarium::testbed
