#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "storage/history_limits.h"

namespace terrarium::storage {

// Counts the newest events that fit the limits, of all resources together: the history that a file keeps.
class RecentEvents {
 public:
  explicit RecentEvents(const HistoryLimits& limits) : limits_(limits) {}

  void Add(std::size_t bytes) {
    sizes_.push_back(static_cast<std::uint32_t>(std::min<std::size_t>(bytes, UINT32_MAX)));
    bytes_ += sizes_.back();
    while (sizes_.size() > limits_.events_min &&
           (sizes_.size() > limits_.events_max || bytes_ > limits_.bytes_max)) {
      bytes_ -= sizes_.front();
      sizes_.pop_front();
    }
  }
  std::int64_t count() const { return static_cast<std::int64_t>(sizes_.size()); }

 private:
  const HistoryLimits limits_;
  std::deque<std::uint32_t> sizes_;
  std::size_t bytes_ = 0;
};

}  // namespace terrarium::storage
