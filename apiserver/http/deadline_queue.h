#pragma once

// Which of many connections to look at next, and when. Knows no clock: the caller says what time it is. Not
// thread-safe: each event loop has its own.

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

  // `id` is due at `when` and no longer at the time it had before.
  void Set(Id id, SteadyTime when);
  void Remove(Id id);
  // Those that are due at `now`, earliest first; they are no longer in the queue.
  std::vector<Id> TakeDue(SteadyTime now);
  // When the first one is due.
  std::optional<SteadyTime> Next() const;

 private:
  std::set<std::pair<SteadyTime, Id>> order_;
  std::map<Id, SteadyTime> due_;
};

}  // namespace terrarium::apiserver
