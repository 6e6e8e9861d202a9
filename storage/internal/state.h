#pragma once

// The current objects and the bounded history of a store, in memory.
//
// History is one log in revision order without gaps, so that the index of an event follows from its revision
// by subtraction. Each resource has the revisions of its own events. Past states are not stored: a list at
// revision R takes the current objects and undoes the events after R.

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
#include "storage/internal/sorted_objects.h"
#include "storage/store.h"

namespace terrarium::storage {

// The revision of a store before its first write.
inline constexpr std::int64_t kFreshRevision = 1;

// An event and the resource it belongs to: one row of the log.
struct Change {
  std::string resource;
  Event event;
};

// The memory that would be freed with the event.
std::size_t BytesKeptAlive(const Event& event);

// Thread-safe for readers. Only the store's sequencer calls Apply, Restore and Find, one call at a time.
class State {
 public:
  // The state of a store at `revision` whose events at and below `compacted` are gone.
  State(const HistoryLimits& limits, std::int64_t revision, std::int64_t compacted);

  // Makes all changes visible in one step and drops the oldest events beyond the limits. REQUIRES: the
  // revisions follow the current one without a gap.
  void Apply(const std::deque<Change>& changes);
  // Adds an object without an event. Used while a store is being opened, before any reader exists.
  void Restore(std::string_view resource, ObjectPtr object);
  // The current object. For the sequencer, which needs no lock because only it changes objects.
  ObjectPtr Find(std::string_view resource, std::string_view ns, std::string_view name) const;

  ObjectPtr Get(const ObjectKey& key) const;
  api::Result<Listing> List(const ListQuery& query) const;
  std::size_t Count(std::string_view resource) const;

  // Calls `use(revision, events)` with the query's events after query.from_revision (none when that is in the
  // future) and the current revision. No change is applied until `use` returns, so that a watch that
  // subscribes inside `use` misses no event.
  template <typename Use>
  std::optional<api::Status> Replay(const WatchQuery& query, Use use) const {
    ReadLock lock(*this);
    if (auto expired = CheckNotCompacted(query.from_revision)) return expired;
    use(revision(), EventsAfter(query));
    return std::nullopt;
  }
  // Same as Replay, but calls `use` with the current objects of the query instead of past events.
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

  // A reader locks and releases the gate before it locks mutex_; a writer holds the gate while it waits.
  // Without the gate, a continuous stream of overlapping readers can starve the writers of a
  // std::shared_mutex.
  class ReadLock {
   public:
    explicit ReadLock(const State& state) {
      { std::lock_guard gate(state.gate_); }
      lock_ = std::shared_lock(state.mutex_);
    }

   private:
    std::shared_lock<std::shared_mutex> lock_;
  };

  // The object of a key at the listed revision, from the first event after that revision, and whether the key
  // exists now, from the last event.
  struct Undo {
    ObjectPtr then;
    bool exists_now;
  };
  using Position = std::pair<std::string_view, std::string_view>;  // namespace, name
  using Undos = std::map<Position, Undo>;

  // Iterates in order over the objects of one namespace or of all, from the first one after a position.
  class Cursor;

  const Resource* FindResource(std::string_view resource) const;
  Resource& ResourceFor(std::string_view resource);
  void Put(Resource& resource, const ObjectPtr& object);
  void Remove(Resource& resource, const api::ObjectHeader& header);
  const LogEntry& EntryAt(std::int64_t revision) const;
  // Moves the oldest event to `garbage`. The caller destroys `garbage` after it has released the lock.
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
  // Guarded by mutex_. revision_ and compacted_ are written with the lock held and may be read without it.
  std::map<std::string, Resource, std::less<>> resources_;
  std::deque<LogEntry> log_;  // the events of revisions revision_ - log_.size() + 1 to revision_
  std::size_t log_bytes_ = 0;
  std::atomic<std::int64_t> revision_;
  std::atomic<std::int64_t> compacted_;
};

}  // namespace terrarium::storage
