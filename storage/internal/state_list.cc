// The reading half of State: lists, now and then, and the replay of events.

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/base/errors.h"
#include "storage/internal/state.h"

namespace terrarium::storage {
namespace {

// "ns/name" or "name"; neither part can hold a slash.
std::pair<std::string_view, std::string_view> SplitPosition(std::string_view text) {
  std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {"", text};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

std::deque<Event>::const_iterator FirstAfter(const std::deque<Event>& history, std::int64_t revision) {
  return std::upper_bound(history.begin(), history.end(), revision,
                          [](std::int64_t r, const Event& event) { return r < event.revision(); });
}

}  // namespace

class State::Cursor {
 public:
  Cursor(const Resource& resource, const std::optional<std::string>& ns, Position behind) {
    const Namespaces& all = resource.namespaces;
    space_ = all.lower_bound(ns ? std::max(std::string_view(*ns), behind.first) : behind.first);
    end_ = ns ? all.upper_bound(*ns) : all.end();
    // A namespace behind the position can put the beginning behind the end.
    if (ns && behind.first > *ns) space_ = end_;
    if (space_ == end_) return;
    slot_ = space_->first == behind.first ? space_->second.UpperBound(behind.second) : space_->second.begin();
    SkipEnds();
  }

  bool AtEnd() const { return space_ == end_; }
  Position position() const { return {space_->first, space_->second.Name(slot_)}; }
  const ObjectPtr& object() const { return space_->second.Object(slot_); }
  void Next() {
    slot_ = space_->second.Next(slot_);
    SkipEnds();
  }
  std::size_t CountRest() const {
    if (AtEnd()) return 0;
    std::size_t count = space_->second.CountFrom(slot_);
    for (auto space = std::next(space_); space != end_; ++space) count += space->second.size();
    return count;
  }

 private:
  void SkipEnds() {
    while (space_->second.AtEnd(slot_)) {
      if (++space_ == end_) return;
      slot_ = space_->second.begin();
    }
  }

  Namespaces::const_iterator space_;
  Namespaces::const_iterator end_;
  SortedObjects::Position slot_ = {};
};

std::int64_t State::CompactedOf(std::string_view resource) const {
  const Resource* found = FindResource(resource);
  return found == nullptr ? floor() : std::max(floor(), found->compacted);
}

std::optional<api::Status> State::CheckNotCompacted(std::string_view resource, std::int64_t revision) const {
  const std::int64_t compacted = CompactedOf(resource);
  if (revision >= compacted) return std::nullopt;
  return api::TooOldResourceVersion(revision, compacted);
}

api::Result<Listing> State::List(const ListQuery& query) const {
  ReadLock lock(*this);
  if (query.at_revision == 0 || query.at_revision >= revision()) return ListNewest(query);
  if (auto expired = CheckNotCompacted(query.resource, query.at_revision)) return *std::move(expired);
  return ListAt(query);
}

Listing State::ListNewest(const ListQuery& query) const {
  Listing listing;
  listing.revision = revision();
  const Resource* resource = FindResource(query.resource);
  if (resource == nullptr) return listing;
  if (!query.ns && query.start_after.empty())
    listing.items.reserve(query.limit == 0 ? resource->count : std::min(query.limit, resource->count));

  Cursor cursor(*resource, query.ns, SplitPosition(query.start_after));
  for (; !cursor.AtEnd(); cursor.Next()) {
    if (query.limit != 0 && listing.items.size() == query.limit) break;
    listing.items.push_back(cursor.object());
  }
  listing.remaining = cursor.CountRest();
  return listing;
}

Listing State::ListWatched(const WatchQuery& query) const {
  if (query.name && query.ns) {
    Listing listing;
    listing.revision = revision();
    if (ObjectPtr object = Find(query.resource, *query.ns, *query.name))
      listing.items.push_back(std::move(object));
    return listing;
  }
  Listing listing = ListNewest({.resource = query.resource, .ns = query.ns});
  if (query.name)
    std::erase_if(listing.items, [&](const ObjectPtr& o) { return o->header().name != *query.name; });
  return listing;
}

State::Undos State::UndosAfter(const Resource& resource, const ListQuery& query, Position behind) const {
  Undos undos;
  for (auto it = FirstAfter(resource.history, query.at_revision); it != resource.history.end(); ++it) {
    const Event& event = *it;
    const api::ObjectHeader& header = event.object->header();
    if (query.ns && header.ns != *query.ns) continue;
    Position position{header.ns, header.name};
    if (position <= behind) continue;
    bool exists_now = event.type != EventType::kDeleted;
    auto [undo, first] = undos.try_emplace(position, Undo{event.previous, exists_now});
    if (!first) undo->second.exists_now = exists_now;
  }
  return undos;
}

Listing State::ListAt(const ListQuery& query) const {
  Listing listing;
  listing.revision = query.at_revision;
  const Resource* resource = FindResource(query.resource);
  if (resource == nullptr) return listing;

  Position behind = SplitPosition(query.start_after);
  Undos undos = UndosAfter(*resource, query, behind);
  auto undo = undos.begin();
  Cursor cursor(*resource, query.ns, behind);
  auto full = [&] { return query.limit != 0 && listing.items.size() == query.limit; };
  while (!full() && (undo != undos.end() || !cursor.AtEnd())) {
    bool undone = undo != undos.end() && (cursor.AtEnd() || undo->first <= cursor.position());
    if (!undone) {
      listing.items.push_back(cursor.object());
      cursor.Next();
      continue;
    }
    if (undo->second.then != nullptr) listing.items.push_back(undo->second.then);
    if (undo->second.exists_now) cursor.Next();
    ++undo;
  }
  listing.remaining = cursor.CountRest();
  for (; undo != undos.end(); ++undo) {
    if (undo->second.then != nullptr) ++listing.remaining;
    if (undo->second.exists_now) --listing.remaining;
  }
  return listing;
}

std::vector<Event> State::EventsAfter(const WatchQuery& query) const {
  std::vector<Event> events;
  const Resource* resource = FindResource(query.resource);
  if (resource == nullptr) return events;
  for (auto it = FirstAfter(resource->history, query.from_revision); it != resource->history.end(); ++it) {
    const Event& event = *it;
    const api::ObjectHeader& header = event.object->header();
    if (query.ns && header.ns != *query.ns) continue;
    if (query.name && header.name != *query.name) continue;
    events.push_back(event);
  }
  return events;
}

}  // namespace terrarium::storage
