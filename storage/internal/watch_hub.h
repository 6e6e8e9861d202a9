#pragma once

// Delivers published events to the watches whose query they match.
//
// Watches with the same query (resource, namespace, name) form a group and share one buffer, in which each
// watch has a position. An event is stored once per group. Publishing it costs one map lookup per kind of
// query plus one wake-up for each idle watch. An entry leaves the buffer when its last reader has taken it.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "storage/internal/state.h"
#include "storage/store.h"

namespace terrarium::storage {

// Wake callbacks collected under locks, to be called without them.
using Wakes = std::vector<std::shared_ptr<const std::function<void()>>>;
void CallWakes(const Wakes& wakes);

// Of the events that are pending for watches with a limit of bytes, in all buffers together. An event in two
// buffers counts twice.
inline constexpr std::size_t kBuffersBytesMax = std::size_t{256} << 20;

// Thread-safe, but Publish has one caller at a time. Watches may outlive the hub.
class WatchHub {
 public:
  // `published` is the current revision of the store. Past `buffers_bytes_max` the slowest watches are cut
  // off.
  explicit WatchHub(std::int64_t published, std::size_t buffers_bytes_max = kBuffersBytesMax);
  WatchHub(const WatchHub&) = delete;
  WatchHub& operator=(const WatchHub&) = delete;
  ~WatchHub();

  // Returns a watch that delivers `replay` first, and then the published events with a revision above both
  // `current_revision` and query.from_revision. REQUIRES: events above `current_revision` are published only
  // after this call began; otherwise the watch could miss them. Events at or below `current_revision` that
  // are published later are not delivered twice. The replay does not count against the watch's buffer.
  std::unique_ptr<Watch> Subscribe(const WatchQuery& query, std::int64_t current_revision,
                                   std::vector<Event> replay);

  // REQUIRES: revisions rise, within a call and from call to call.
  [[nodiscard]] Wakes Publish(const std::deque<Change>& changes);
  // Ends every open watch and every watch that subscribes later.
  [[nodiscard]] Wakes Close();

  class Core;  // shared with the watches

 private:
  std::shared_ptr<Core> core_;
};

}  // namespace terrarium::storage
