#pragma once

// Orders connections by their next deadline. Has no clock: the caller passes the time. Not thread-safe: each
// event loop has its own.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace terrarium::apiserver {

using SteadyTime = std::chrono::steady_clock::time_point;

class DeadlineQueue {
 public:
  using Id = std::uint64_t;

  // Sets or replaces the deadline of `id`.
  void Set(Id id, SteadyTime when);
  void Remove(Id id);
  // Removes and returns the ids that are due at `now`, earliest first.
  std::vector<Id> TakeDue(SteadyTime now);
  // When the first one is due.
  std::optional<SteadyTime> Next() const;

 private:
  std::set<std::pair<SteadyTime, Id>> order_;
  std::map<Id, SteadyTime> due_;
};

}  // namespace terrarium::apiserver
