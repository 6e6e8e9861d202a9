#pragma once

// What happened in a plane, to be read around a moment: writes and what they changed, Events, why the controllers did
// what they did, and what was done to the plane itself (components stopped, gates set, steps of a test).
//
// While nobody reads, it keeps no more than who wrote which revisions when. The objects are those of the store's
// history, which bounds how far back it can be read; what changed is worked out for the entries that somebody asks for.
//
// Single-threaded: for planes on the simulated runtime.

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

namespace terrarium::controllers {
class WhyLog;
}

namespace terrarium::testbed {

struct TimelineEntry {
  enum class Kind {
    kWrite,  // an object was created, updated or deleted
    kEvent,  // an Event was recorded or counted up
    kWhy,    // a controller decided something
    kNote,   // something was done to the plane
  };
  Kind kind = Kind::kWrite;
  api::Time time{};
  // Of the write or Event; of a decision the newest that the controller had seen; of a note the newest there was.
  std::int64_t revision = 0;
  std::string who;       // the component or controller; "test" for whoever drives the plane
  std::string what;      // create, update, delete; the Event's reason; why create, ...; the note's word
  std::string resource;  // "replicasets"; of an Event, the kind that it is about: "ReplicaSet"; of a note maybe nothing
  api::ObjectName object;
  std::string text;   // what changed, the message, the rule, the note
  api::Json details;  // [{"path", "from", "to"}] of an update, what the controller saw, what was noted; or null
};

struct TimelineQuery {
  std::optional<api::Time> from = {};  // both inclusive
  std::optional<api::Time> to = {};
  // A revision in the middle of it, 0 for the newest, and how many entries up to it and after it are wanted.
  std::int64_t around = 0;
  std::size_t before = std::numeric_limits<std::size_t>::max();
  std::size_t after = std::numeric_limits<std::size_t>::max();
  // Leases, and writes that renew nothing but times.
  bool housekeeping = false;
};

class Timeline {
 public:
  static constexpr std::size_t kMarksMax = 50'000;  // about as many as the store remembers events, and some
  static constexpr std::size_t kNotesMax = 5'000;

  // All outlive the timeline. What the store holds already is "plane"'s.
  Timeline(storage::Store& store, const api::Clock& clock, const controllers::WhyLog& why);

  // What was written since the last call was written now, by that one.
  void Wrote(std::string_view who);
  // Something was done to the plane: "restart", "feature-gates", "step", ...
  void Note(std::string_view who, std::string_view word, std::string text, api::Json details = nullptr);

  // Oldest first.
  std::vector<TimelineEntry> Read(const TimelineQuery& query = {}) const;
  // For people: aligned columns, times since the start of the plane.
  std::string TextOf(const std::vector<TimelineEntry>& entries) const;
  std::string Text(const TimelineQuery& query = {}) const { return TextOf(Read(query)); }
  static api::Json ToJson(const std::vector<TimelineEntry>& entries);

  api::Time start() const { return start_; }

 private:
  struct Mark {
    std::int64_t revision;  // the last of those that it is about
    api::Time time;
    std::size_t who;  // in names_
  };
  // Something that may be asked for, before anybody has looked at it.
  struct Item;

  std::size_t NameIndex(std::string_view who);
  const Mark* MarkOf(std::int64_t revision) const;  // nullptr: forgotten
  TimelineEntry EntryOf(const Item& item) const;

  storage::Store& store_;
  const api::Clock& clock_;
  const controllers::WhyLog& why_;
  const api::Time start_;
  std::vector<std::string> names_;
  std::deque<Mark> marks_;
  std::deque<TimelineEntry> notes_;
};

}  // namespace terrarium::testbed
