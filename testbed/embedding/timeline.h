#pragma once

// The history of a control plane: writes and what they changed, Events, the controllers' decisions and their
// reasons, and operations on the control plane itself (components stopped, gates set, steps of a test).
//
// The timeline itself records only who wrote which revisions when, and notes. Objects come from the store's
// history, which limits how far back Read() reaches. Changes are computed only for the entries that Read()
// returns.
//
// Single-threaded: for control planes on the simulated runtime.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/json.h"
#include "api/object_name.h"
#include "storage/store.h"

namespace terrarium::apiserver {
class ResourceRegistry;
}
namespace terrarium::controllers {
class WhyLog;
}

namespace terrarium::testbed {

class ControlPlane;

struct TimelineEntry {
  enum class Kind {
    kWrite,  // an object was created, updated or deleted
    kEvent,  // an Event was recorded or counted up
    kWhy,    // a controller decided something
    kNote,   // an operation on the control plane
  };
  Kind kind = Kind::kWrite;
  api::Time time{};
  // The revision of the write or Event. For a decision: the newest that the controller had seen. For a note:
  // the newest at that time.
  std::int64_t revision = 0;
  std::string who;   // the component or controller; "test": the caller of the testbed
  std::string what;  // create, update, delete; the Event's reason; why create, ...; the note's word
  // "replicasets". For an Event: the kind that it is about, such as "ReplicaSet". May be empty for a note.
  std::string resource;
  api::ObjectName object;
  std::string text;  // what changed, the message, the rule, the note
  // For an update: [{"path", "from", "to"}]. For a decision: what the controller saw. For a note: its
  // details. May be null.
  api::Json details;
};

struct TimelineQuery {
  std::optional<api::Time> from = {};  // both inclusive
  std::optional<api::Time> to = {};
  // `before` entries up to the revision `around` (0: the newest), and `after` entries following it.
  std::int64_t around = 0;
  std::size_t before = std::numeric_limits<std::size_t>::max();
  std::size_t after = std::numeric_limits<std::size_t>::max();
  // Also returns leases, expired Events, and node updates that change only timestamps.
  bool housekeeping = false;
};

class Timeline {
 public:
  static constexpr std::size_t kMarksMax = 50'000;  // more than the store's history has events
  static constexpr std::size_t kNotesMax = 5'000;

  // `control_plane` outlives the timeline. Revisions that exist already are attributed to "cluster".
  explicit Timeline(ControlPlane& control_plane);

  // Attributes all revisions since the last call to `who`, at the current time.
  void Wrote(std::string_view who);
  // Records an operation on the control plane: "restart", "feature-gates", "step", ...
  void Note(std::string_view who, std::string_view word, std::string text, api::Json details = nullptr);

  // Oldest first.
  std::vector<TimelineEntry> Read(const TimelineQuery& query = {}) const;
  // A table for users: aligned columns, times since the start of the control plane.
  std::string TextOf(const std::vector<TimelineEntry>& entries) const;
  std::string Text(const TimelineQuery& query = {}) const { return TextOf(Read(query)); }
  static api::Json ToJson(const std::vector<TimelineEntry>& entries);

  api::Time start() const { return start_; }

 private:
  struct Mark {
    std::int64_t revision;  // the last one of the mark
    api::Time time;
    std::size_t who;  // index in names_
  };
  // A candidate for an entry, before its changes are computed.
  struct Item;

  std::size_t NameIndex(std::string_view who);
  const Mark* MarkOf(std::int64_t revision) const;  // nullptr: newer than the last Wrote()
  TimelineEntry EntryOf(const Item& item) const;

  apiserver::ResourceRegistry& served_;
  storage::Store& store_;
  const api::Clock& clock_;
  const controllers::WhyLog& why_;
  const api::Time start_;
  std::vector<std::string> names_;
  std::deque<Mark> marks_;
  std::deque<TimelineEntry> notes_;
};

}  // namespace terrarium::testbed
