#include "kubelet-fake/kubelet/internal/log_book.h"

#include <algorithm>
#include <utility>

namespace terrarium::kubelet_fake {

void LogBook::Begin(const api::ObjectName& pod, ContainerRun run, std::optional<api::Time> finished) {
  std::lock_guard lock(mutex_);
  std::vector<Slot>& slots = pods_[pod];
  auto slot =
      std::find_if(slots.begin(), slots.end(), [&](const Slot& s) { return s.container == run.container; });
  if (slot == slots.end())
    slot = slots.insert(slots.end(), Slot{std::move(run.container), {}, nullptr, nullptr});
  if (slot->latest != nullptr && slot->started >= run.started) return;
  slot->previous = std::move(slot->latest);
  slot->latest = std::make_shared<api::ContainerLog>(std::move(run.prints), run.started);
  slot->started = run.started;
  if (finished) slot->latest->End(*finished);  // no client follows it yet
}

void LogBook::End(const api::ObjectName& pod, const std::string& container, api::Time finished) {
  // Find() has released the lock, so followers of the log are woken without it.
  if (auto log = Find(pod, container, false)) log->End(finished);
}

void LogBook::Forget(const api::ObjectName& pod, api::Time now) {
  std::vector<Slot> slots;
  {
    std::lock_guard lock(mutex_);
    if (auto found = pods_.extract(pod); !found.empty()) slots = std::move(found.mapped());
  }
  for (const Slot& slot : slots) slot.latest->End(now);
}

std::shared_ptr<api::ContainerLog> LogBook::Find(const api::ObjectName& pod, const std::string& container,
                                                 bool previous) const {
  std::lock_guard lock(mutex_);
  const auto found = pods_.find(pod);
  if (found == pods_.end()) return nullptr;
  for (const Slot& slot : found->second)
    if (slot.container == container) return previous ? slot.previous : slot.latest;
  return nullptr;
}

}  // namespace terrarium::kubelet_fake
