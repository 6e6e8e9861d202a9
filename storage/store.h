#pragma once

// The revisioned store. One global revision counts every write of a control plane; a write's revision is the
// resourceVersion of the object it wrote.
//
// Guarantees, checked by one conformance suite for every implementation and durability mode:
//  - Writes are ordered: revisions rise by one, in the order in which writes are applied.
//  - Reads and watches see a write only after it is durable in the chosen mode. Readers never see revision N
//    without all revisions below it.
//  - A write names the revision it replaces (compare-and-swap). A mismatch is an ordinary outcome with the
//    current object.
//  - Watches are ordered, without duplicates and gaps, resumable from any revision that is not compacted, and
//    atomic with the list they follow.
//  - A slow watcher is cut off when its bounded buffer is full. It never slows writers or other watchers.
//  - No acknowledged write is lost (durability full), and revisions never go back.
//
// All methods are thread-safe. A new store is at revision 1, as in etcd: "0" means something else to clients.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/object.h"

namespace terrarium::storage {

using api::ObjectPtr;

// `resource` is the storage name of a kind, e.g. "pods" or "apps/deployments"; ns is empty for cluster-scoped
// kinds.
struct ObjectKey {
  std::string resource;
  std::string ns;
  std::string name;
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

enum class EventType { kAdded, kModified, kDeleted };

struct Event {
  EventType type;
  ObjectPtr object;    // for kDeleted: the last state, at the revision of the deletion
  ObjectPtr previous;  // nullptr for kAdded
  std::int64_t revision() const { return object->revision(); }
};

struct Write {
  enum class Op { kCreate, kUpdate, kDelete };
  Op op;
  ObjectKey key;
  std::int64_t expected_revision = 0;  // of the object to be replaced or deleted; unused by kCreate
  // The new state; the store stamps its revision. For kDelete: the last state to show in the DELETED event,
  // or nullptr for the current one. REQUIRES: its header has the namespace and name of `key`.
  ObjectPtr object = nullptr;
};

struct WriteOutcome {
  enum class Code {
    kOk,
    kExists,    // create of a name that is taken
    kNotFound,  // update or delete of an object that is not there
    kConflict,  // the object is at another revision than expected
    kFailed,    // the disk failed; nothing was written
  };
  Code code;
  ObjectPtr object =
      nullptr;  // kOk: as written (kDelete: the last state). kExists, kConflict: the current object.
  std::string error = {};  // kFailed
};

using WriteDone = std::function<void(WriteOutcome)>;

struct ListQuery {
  std::string resource;
  std::optional<std::string> ns = {};  // nullopt: all namespaces
  std::int64_t at_revision = 0;        // 0 or a future revision: the newest; otherwise exactly this one
  std::string start_after =
      {};                 // "ns/name" ("name" for cluster-scoped) of the last item of the previous page
  std::size_t limit = 0;  // at most this many items; 0: all
};

struct Listing {
  std::vector<ObjectPtr> items;  // sorted by namespace, then name
  std::int64_t revision = 0;     // the revision of the list
  std::size_t remaining = 0;     // matching items after the last one, left out because of `limit`
};

struct WatchQuery {
  std::string resource;
  std::optional<std::string> ns = {};
  std::optional<std::string> name = {};  // a single object, for fieldSelector metadata.name=...
  std::int64_t from_revision = 0;        // events after this revision
  // Past this many undelivered events, or events of this many bytes, the watch is cut off.
  std::size_t buffer_events = 1000;
  std::size_t buffer_bytes = std::numeric_limits<std::size_t>::max();
};

// One subscription. It buffers a bounded number of events until they are taken. Destroying it unsubscribes.
class Watch {
 public:
  virtual ~Watch() = default;

  enum class State {
    kOpen,
    // The buffer was full. The pending events are dropped, and the subscriber must start again, for example
    // from the last revision it has taken.
    kOverflow,
    kClosed,  // the store is shutting down
  };
  // Moves up to `max` pending events to the end of `out`. Events buffered before a shutdown are still
  // delivered: Take() returns kOpen while any are pending, and the final state with the last of them or after
  // it. If `max` events were returned, call again: no further wake-up is sent for the rest.
  virtual State Take(std::size_t max, std::vector<Event>& out) = 0;
  // The store calls `wake`, from any thread and without locks held, when there is something new after Take()
  // had left nothing pending. Call SetWake before the first Take(); it calls `wake` immediately if something
  // is pending or the watch has ended. `wake` must not block. It may be called although nothing is pending,
  // and once more during or after the destruction of the Watch, so it must hold its dependencies by weak or
  // shared pointers.
  virtual void SetWake(std::function<void()> wake) = 0;
  // All events of the query at or below this revision have been taken, so a bookmark may report it. Never
  // goes back.
  virtual std::int64_t DeliveredRevision() const = 0;
};

struct ListAndWatchResult {
  Listing listing;
  std::unique_ptr<Watch> watch;
};

class Store {
 public:
  virtual ~Store() = default;

  // Applies the write and calls `done` once, after the write is durable and visible to reads and watches. The
  // call may come from another thread and before Submit returns; no locks are held. The store wakes the
  // watchers before it calls `done`. `done` may submit again; it must not block, shut the store down or
  // destroy it.
  virtual void Submit(Write write, WriteDone done) = 0;

  virtual ObjectPtr Get(const ObjectKey& key) const = 0;  // nullptr when absent
  // Expired when `at_revision` is older than the compacted revision. The cost is proportional to the items
  // returned plus the events since `at_revision`.
  virtual api::Result<Listing> List(const ListQuery& query) const = 0;
  // Number of objects of a resource, without listing them.
  virtual std::size_t Count(std::string_view resource) const = 0;

  // Expired when from_revision is older than the compacted revision. from_revision may lie in the future.
  virtual api::Result<std::unique_ptr<Watch>> StartWatch(const WatchQuery& query) = 0;
  // Lists at the newest revision and watches from exactly there. query.from_revision is not used.
  virtual ListAndWatchResult ListAndWatch(const WatchQuery& query) = 0;

  virtual std::int64_t CurrentRevision() const = 0;  // newest visible
  virtual std::int64_t CompactedRevision()
      const = 0;  // older reads are Expired, except of resources whose own history reaches further back
  // Drops history up to `revision` (clamped to the current one). Open watches continue.
  virtual void Compact(std::int64_t revision) = 0;

  // Describes in one line a problem with the file in which the store keeps its objects; empty when there is
  // none. Cheap enough for a health check.
  virtual std::string Trouble() const { return ""; }

  // Waits for submitted writes, refuses new ones (kFailed), closes all watches and the file. Reads continue
  // to work. Idempotent.
  virtual void Shutdown() = 0;
};

}  // namespace terrarium::storage
