#include "testbed/scenario/follower.h"

#include <limits>
#include <utility>

#include "api/base/check.h"

namespace terrarium::testbed::scenario {

Follower::Follower(storage::Store& store, std::string resource, Judge judge) : judge_(std::move(judge)) {
  storage::WatchQuery query;
  query.resource = std::move(resource);
  query.buffer_events = std::numeric_limits<std::size_t>::max();  // Next() takes every event, and soon
  storage::ListAndWatchResult start = store.ListAndWatch(query);
  watch_ = std::move(start.watch);
  revision_ = start.listing.revision;
  for (const api::ObjectPtr& object : start.listing.items) Put(object);
}

bool Follower::Next() {
  if (next_ == taken_.size()) {
    taken_.clear();
    next_ = 0;
    watch_->Take(256, taken_);
    if (taken_.empty()) return false;
  }
  const storage::Event& event = taken_[next_++];
  revision_ = event.revision();
  Remove({event.object->header().ns, event.object->header().name});
  if (event.type != storage::EventType::kDeleted) Put(event.object);
  return true;
}

void Follower::Put(const api::ObjectPtr& object) {
  const Judged judged = judge_(object);
  if (judged.counts == 0) return;
  entries_[{object->header().ns, object->header().name}] = {object, judged};
  selected_ += judged.counts;
  ++objects_;
  matching_ += judged.matches ? 1 : 0;
}

void Follower::Remove(const api::ObjectName& name) {
  auto found = entries_.find(name);
  if (found == entries_.end()) return;
  selected_ -= found->second.judged.counts;
  --objects_;
  matching_ -= found->second.judged.matches ? 1 : 0;
  entries_.erase(found);
}

std::vector<api::ObjectPtr> Follower::Filtered(bool mismatching_only) const {
  std::vector<api::ObjectPtr> out;
  for (const auto& [name, entry] : entries_)
    if (!mismatching_only || !entry.judged.matches) out.push_back(entry.object);
  return out;
}

}  // namespace terrarium::testbed::scenario
