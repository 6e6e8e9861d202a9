#pragma once

#include <deque>
#include <map>
#include <string_view>
#include <tuple>

#include "storage/internal/state.h"
#include "storage/store.h"

namespace terrarium::storage {

// Checks writes one after the other, each against the state and the writes before it, and assigns revisions
// to those that succeed. Nothing is visible until the changes are applied to the state; dropping a batch has
// no effect.
class Batch {
 public:
  // REQUIRES: `state` does not change while the batch is filled
  explicit Batch(const State& state) : state_(state), revision_(state.revision()) {}

  // With kOk the write is part of changes().
  WriteOutcome Add(Write write);
  const std::deque<Change>& changes() const { return changes_; }

 private:
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;

  ObjectPtr Current(const ObjectKey& key);

  const State& state_;
  std::int64_t revision_;
  std::deque<Change> changes_;          // a deque: index_ refers to its elements
  std::map<Key, const Change*> index_;  // the newest change of each key
  std::size_t indexed_ = 0;             // of changes_; a batch of one write never builds the index
};

}  // namespace terrarium::storage
