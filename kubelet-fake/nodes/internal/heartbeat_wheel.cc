#include "kubelet-fake/nodes/internal/heartbeat_wheel.h"

#include <algorithm>

namespace terrarium::kubelet_fake {

void HeartbeatWheel::Add(const std::string& node) {
  if (slot_of_.contains(node)) return;
  auto emptiest = std::min_element(slots_.begin(), slots_.end(),
                                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  emptiest->insert(node);
  slot_of_.emplace(node, static_cast<std::size_t>(emptiest - slots_.begin()));
}

void HeartbeatWheel::Remove(const std::string& node) {
  auto it = slot_of_.find(node);
  if (it == slot_of_.end()) return;
  slots_[it->second].erase(node);
  slot_of_.erase(it);
}

std::optional<api::Time> HeartbeatWheel::NextDue(api::Time time) const {
  const std::int64_t passed = (time - epoch_) / kSlot;
  for (std::int64_t step = 1; step <= static_cast<std::int64_t>(kSlots); ++step) {
    const std::int64_t at = passed + step;
    if (!slots_[static_cast<std::size_t>(at) % kSlots].empty()) return epoch_ + at * kSlot;
  }
  return std::nullopt;
}

const std::set<std::string>& HeartbeatWheel::DueAt(api::Time time) const {
  return slots_[static_cast<std::size_t>((time - epoch_) / kSlot) % kSlots];
}

}  // namespace terrarium::kubelet_fake
