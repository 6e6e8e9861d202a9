#pragma once

// The current objects and the bounded history of a store, in memory.
//
// History is one log in revision order without holes, so that a revision finds its event by subtraction; each resource
// knows the revisions of its own events. The past is never stored: a list at revision R takes the current objects and
// undoes the events after R.

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/status.h"
#include "storage/history_limits.h"
#include "storage/sorted_objects.h"
#include "storage/store.h"

namespace terrarium::storage {

// Where a store stands before its first write.
inline constexpr std::int64_t kFreshRevision = 1;

// An event and the resource it belongs to: one row of the log.
struct Change {
  std::string resource;
  Event event;
};

// Thread-safe for readers. Apply, Restore and Find belong to the store's sequencer: one caller at a time.
class State {
 public:
  // A store that stood at `revision` and has forgotten the events at and below `compacted`.
  State(const HistoryLimits& limits, std::int64_t revision, std::int64_t compacted);

  // Makes the changes visible, all at once, and forgets what the limits no longer allow.
  // REQUIRES: revisions follow the current one without a hole
  void Apply(const std::deque<Change>& changes);
  // Puts an object in place without an event: what a store holds when it is opened. Nobody reads yet.
  void Restore(std::string_view resource, ObjectPtr object);
  // The current object, for the sequencer, which needs no lock: objects change by its own hand only.
  ObjectPtr Find(std::string_view resource, std::string_view ns, std::string_view name) const;

  ObjectPtr Get(const ObjectKey& key) const;
  api::Result<Listing> List(const ListQuery& query) const;
  std::size_t Count(std::string_view resource) const;

  // Calls `use(revision, events)` with the query's events after query.from_revision (none when that is in the future)
  // and the current revision. Nothing is applied until `use` returns: who subscribes in it misses nothing.
  template <typename Use>
  std::optional<api::Status> Replay(const WatchQuery& query, Use use) const {
    ReadLock lock(*this);
    if (auto expired = CheckNotCompacted(query.from_revision)) return expired;
    use(revision(), EventsAfter(query));
    return std::nullopt;
  }
  // The same with the current objects of the query in place of past events.
  template <typename Use>
  void Snapshot(const WatchQuery& query, Use use) const {
    ReadLock lock(*this);
    use(ListWatched(query));
  }

  std::int64_t revision() const { return revision_.load(std::memory_order_acquire); }
  std::int64_t compacted() const { return compacted_.load(std::memory_order_acquire); }
  void Compact(std::int64_t revision);
  std::size_t HistoryEvents() const;
  std::size_t HistoryBytes() const;

 private:
  using Namespaces = std::map<std::string, SortedObjects, std::less<>>;

  struct Resource {
    Namespaces namespaces;  // none of them empty
    std::size_t count = 0;
    std::deque<std::int64_t> revisions;  // of its events that are still in the log, ascending
  };
  struct LogEntry {
    Event event;
    Resource* resource;
  };

  // A reader passes through the gate before it locks; a writer stands in it while it waits. Without it, readers that
  // overlap for ever keep a std::shared_mutex from its writers.
  class ReadLock {
   public:
    explicit ReadLock(const State& state) {
      { std::lock_guard gate(state.gate_); }
      lock_ = std::shared_lock(state.mutex_);
    }

   private:
    std::shared_lock<std::shared_mutex> lock_;
  };

  // What a key was at the listed revision, by the first event after it, and whether it is there now, by the last.
  struct Undo {
    ObjectPtr then;
    bool exists_now;
  };
  using Position = std::pair<std::string_view, std::string_view>;  // namespace, name
  using Undos = std::map<Position, Undo>;

  // Objects of one namespace or of all, in order, from the first one behind a position.
  class Cursor;

  const Resource* FindResource(std::string_view resource) const;
  Resource& ResourceFor(std::string_view resource);
  void Put(Resource& resource, const ObjectPtr& object);
  void Remove(Resource& resource, const api::ObjectHeader& header);
  const LogEntry& EntryAt(std::int64_t revision) const;
  // Drops the oldest event. Its memory is freed by whoever destroys `garbage`, outside the lock.
  void ForgetOldest(std::vector<Event>& garbage);

  std::optional<api::Status> CheckNotCompacted(std::int64_t revision) const;
  Listing ListNewest(const ListQuery& query) const;
  Listing ListWatched(const WatchQuery& query) const;
  Listing ListAt(const ListQuery& query) const;
  Undos UndosAfter(const Resource& resource, const ListQuery& query, Position behind) const;
  std::vector<Event> EventsAfter(const WatchQuery& query) const;

  const HistoryLimits limits_;
  mutable std::mutex gate_;
  mutable std::shared_mutex mutex_;
  // Guarded by mutex_. revision_ and compacted_ are written under it and read without.
  std::map<std::string, Resource, std::less<>> resources_;
  std::deque<LogEntry> log_;  // the events of revisions revision_ - log_.size() + 1 to revision_
  std::size_t log_bytes_ = 0;
  std::atomic<std::int64_t> revision_;
  std::atomic<std::int64_t> compacted_;
};

}  // namespace terrarium::storage
