#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "api/base/check.h"

namespace terrarium::controllers {

// A map that evicts the least recently used key.
template <typename Value>
class LruMap {
 public:
  explicit LruMap(std::size_t max) : max_(max) { CHECK(max > 0); }
  LruMap(const LruMap&) = delete;
  LruMap& operator=(const LruMap&) = delete;

  // The value of `key`, created if absent. Valid until other keys are used.
  Value& operator[](std::string_view key) {
    if (Value* found = Find(key)) return *found;
    if (entries_.size() < max_) {
      entries_.emplace_front(std::string(key), Value{});
      places_.emplace(entries_.front().first, entries_.begin());
      return entries_.front().second;
    }
    // The oldest entry becomes the new one, which saves allocating at the rate at which pods come and go.
    auto place = places_.extract(entries_.back().first);
    entries_.splice(entries_.begin(), entries_, std::prev(entries_.end()));
    entries_.front().first.assign(key);
    entries_.front().second = Value{};
    place.key() = entries_.front().first;
    places_.insert(std::move(place));
    return entries_.front().second;
  }

  // nullptr when absent.
  Value* Find(std::string_view key) {
    auto place = places_.find(key);
    if (place == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, place->second);
    return &place->second->second;
  }

  std::size_t size() const { return entries_.size(); }

 private:
  using Entries = std::list<std::pair<std::string, Value>>;  // last used first
  const std::size_t max_;
  Entries entries_;
  std::map<std::string_view, typename Entries::iterator> places_;  // the texts are those of the entries
};

}  // namespace terrarium::controllers
