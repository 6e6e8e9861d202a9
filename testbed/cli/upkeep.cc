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
// Below this share it has time as well, but will need memory again: only a clear excess is returned.
constexpr double kModerateShare = 1.0;
constexpr std::size_t kExcessFactor = 2;
// Releasing less than this is not worth the page faults of the next burst.
constexpr std::size_t kKeptBytes = std::size_t{32} << 20;
constexpr std::size_t kKeptBytesUnderLoad = std::size_t{128} << 20;

std::chrono::microseconds CpuTime() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

std::optional<HeapSize> SizeOfHeap() {
  if (MallocExtension_GetNumericProperty == nullptr || MallocExtension_ReleaseFreeMemory == nullptr)
    return std::nullopt;
  HeapSize size;
  if (MallocExtension_GetNumericProperty("generic.current_allocated_bytes", &size.in_use) == 0 ||
      MallocExtension_GetNumericProperty("tcmalloc.pageheap_free_bytes", &size.free) == 0)
    return std::nullopt;
  return size;
}

}  // namespace

bool ShouldReleaseMemory(const HeapSize& heap, double cpu_share) {
  if (cpu_share < kIdleShare) return heap.free > kKeptBytes;
  return cpu_share < kModerateShare && heap.free > kKeptBytesUnderLoad &&
         heap.free / kExcessFactor > heap.in_use;
}

Upkeep::Process Upkeep::ThisProcess() {
  return {CpuTime, SizeOfHeap, [] { MallocExtension_ReleaseFreeMemory(); }};
}

Upkeep::Upkeep(api::Executor& executor, std::function<void()> check, Process process)
    : executor_(executor),
      check_(std::move(check)),
      process_(std::move(process)),
      cpu_before_(process_.cpu_time()) {
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
  const std::chrono::microseconds cpu = process_.cpu_time();
  const std::chrono::duration<double> used = cpu - std::exchange(cpu_before_, cpu);
  const std::optional<HeapSize> heap = process_.heap();
  if (heap && ShouldReleaseMemory(*heap, used / kPeriod)) process_.release_memory();
  Arm();
}

}  // namespace terrarium::testbed
