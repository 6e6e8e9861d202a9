#pragma once

#include <cstddef>
#include <list>
#include <map>

#include "controllers/garbage_collector/internal/identity.h"

namespace terrarium::controllers::garbage_collector {

// LRU cache of owners that returned 404. Uids are never reused, so a thousand dependents of one owner need
// one request.
class AbsentOwners {
 public:
  explicit AbsentOwners(std::size_t most = 500) : most_(most) {}

  void Add(const Identity& owner) {
    if (Has(owner)) return;
    recent_.push_front(owner);
    places_.emplace(owner, recent_.begin());
    if (recent_.size() <= most_) return;
    places_.erase(recent_.back());
    recent_.pop_back();
  }

  bool Has(const Identity& owner) {
    auto place = places_.find(owner);
    if (place == places_.end()) return false;
    recent_.splice(recent_.begin(), recent_, place->second);
    return true;
  }

 private:
  std::size_t most_;
  std::list<Identity> recent_;
  std::map<Identity, std::list<Identity>::iterator> places_;
};

}  // namespace terrarium::controllers::garbage_collector
