#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "api/base/clock.h"

namespace terrarium::kubelet_fake {

// Schedules the lease renewals of nodes: once per period, spread evenly over its seconds.
class HeartbeatWheel {
 public:
  static constexpr api::Duration kPeriod = std::chrono::seconds(10);
  static constexpr api::Duration kSlot = std::chrono::seconds(1);

  explicit HeartbeatWheel(api::Time epoch) : epoch_(epoch) {}

  void Add(const std::string& node);
  void Remove(const std::string& node);
  // The first instant after `time` at which some node is due; nullopt without nodes.
  std::optional<api::Time> NextDue(api::Time time) const;
  // The nodes due at that instant. REQUIRES: NextDue() named it.
  const std::set<std::string>& DueAt(api::Time time) const;

 private:
  static constexpr std::size_t kSlots = kPeriod / kSlot;

  api::Time epoch_;
  std::array<std::set<std::string>, kSlots> slots_;
  std::map<std::string, std::size_t> slot_of_;
};

}  // namespace terrarium::kubelet_fake
