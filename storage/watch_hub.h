#pragma once

// Hands published events to the watches that asked for them.
//
// Watches with the same query (resource, namespace, name) form a group and share one buffer, in which each has a
// position: an event is stored once however many watch, and an event costs one look-up per kind of query plus one wake
// for each watch that had nothing to do. An entry leaves the buffer with its last reader.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "storage/state.h"
#include "storage/store.h"

namespace terrarium::storage {

// Wake callbacks collected under locks, to be called without them.
using Wakes = std::vector<std::shared_ptr<const std::function<void()>>>;
void CallWakes(const Wakes& wakes);

// Thread-safe, but Publish has one caller at a time. Watches may outlive the hub.
class WatchHub {
 public:
  // `published` is the revision at which the store stands.
  explicit WatchHub(std::int64_t published);
  WatchHub(const WatchHub&) = delete;
  WatchHub& operator=(const WatchHub&) = delete;
  ~WatchHub();

  // A watch of the query that gives `replay` first and then what is published with a revision above both
  // `current_revision` and query.from_revision. It misses nothing when events above `current_revision` are published
  // only after this call began; the ones at or below it that are still on their way here are not given twice.
  // The replay does not count against the watch's buffer.
  std::unique_ptr<Watch> Subscribe(const WatchQuery& query, std::int64_t current_revision, std::vector<Event> replay);

  // REQUIRES: revisions rise, also from call to call
  [[nodiscard]] Wakes Publish(const std::deque<Change>& changes);
  // Ends every watch, now and later.
  [[nodiscard]] Wakes Close();

  class Core;  // shared with the watches

 private:
  std::shared_ptr<Core> core_;
};

}  // namespace terrarium::storage
