#pragma once

// The current objects and the bounded history of a store, in memory.
//
// Each resource has a history of its own events in revision order. All histories share one budget: when it is
// used up, the largest one loses its oldest events. Past states are not stored: a list at revision R takes
// the current objects and undoes the resource's events after R.

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

  // Makes all changes visible in one step and drops events beyond the limits. REQUIRES: the revisions follow
  // the current one without a gap.
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
    if (auto expired = CheckNotCompacted(query.resource, query.from_revision)) return expired;
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
  // The histories of all resources reach back to this revision, that of a quiet resource possibly further.
  std::int64_t compacted() const { return compacted_.load(std::memory_order_acquire); }
  // Up to where Compact() has dropped the events of every resource.
  std::int64_t floor() const { return floor_.load(std::memory_order_acquire); }
  void Compact(std::int64_t revision);
  std::size_t HistoryEvents() const;
  std::size_t HistoryBytes() const;

 private:
  using Namespaces = std::map<std::string, SortedObjects, std::less<>>;

  struct Resource {
    Namespaces namespaces;  // none of them empty
    std::size_t count = 0;
    std::deque<Event> history;  // by revision, ascending
    std::size_t history_bytes = 0;
    std::int64_t compacted = 0;  // its events at and below are gone; also those at and below floor_
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
  // Drops events while there are more than the limits allow.
  void Trim(std::vector<Event>& garbage);
  // The resource with the most events, or with the most bytes.
  Resource& LargestHistory(bool by_bytes);
  // Moves the oldest event to `garbage`. The caller destroys `garbage` after it has released the lock.
  void ForgetOldest(Resource& resource, std::vector<Event>& garbage);

  std::int64_t CompactedOf(std::string_view resource) const;
  std::optional<api::Status> CheckNotCompacted(std::string_view resource, std::int64_t revision) const;
  Listing ListNewest(const ListQuery& query) const;
  Listing ListWatched(const WatchQuery& query) const;
  Listing ListAt(const ListQuery& query) const;
  Undos UndosAfter(const Resource& resource, const ListQuery& query, Position behind) const;
  std::vector<Event> EventsAfter(const WatchQuery& query) const;

  const HistoryLimits limits_;
  mutable std::mutex gate_;
  mutable std::shared_mutex mutex_;
  // Guarded by mutex_. The atomics are written with the lock held and may be read without it.
  std::map<std::string, Resource, std::less<>> resources_;
  std::size_t history_events_ = 0;
  std::size_t history_bytes_ = 0;
  // The last result of LargestHistory(), and how many more events may be dropped before it is sought again.
  struct Largest {
    Resource* resource = nullptr;
    bool by_bytes = false;
    std::size_t drops = 0;
  } largest_;
  std::atomic<std::int64_t> revision_;
  std::atomic<std::int64_t> compacted_;
  std::atomic<std::int64_t> floor_;
};

}  // namespace terrarium::storage
