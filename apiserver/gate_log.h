#pragma once

// What became of fields that belong to feature gates, and when gates were changed: the story of an on-off-on sequence, as
// the apiserver sees it. Thread-safe.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "api/base/feature_gates.h"
#include "api/json.h"
#include "api/object_name.h"

namespace terrarium::apiserver {

enum class GatedField {
  kDropped,   // the apiserver's gate is off, and the stored object did not have it
  kKept,      // the apiserver's gate is off, and the stored object had it
  kVanished,  // the stored object had it, and whoever wrote left it out
  kAppeared,  // the stored object did not have it, and does now
};

// What a write did to a field.
struct GateNote {
  GatedField what;
  std::string field;  // "spec.podReplacementPolicy"
  std::string gate;
};

struct GateRecord {
  api::Time time{};
  std::int64_t revision = 0;  // of the write; of the stored object when nothing was left to write
  std::string what;           // "dropped", "kept", "vanished", "came-back"
  std::string gate;
  std::string field;
  std::string resource;
  api::ObjectName object;
  std::string writer;  // a component, or the name of the user
  // The same thing, again and again: told once, until something else becomes of the field or gates change.
  std::int64_t times = 1;
  std::int64_t last_revision = 0;

  api::Json ToJson() const;
};

struct GateChange {
  api::Time time{};
  std::int64_t revision = 0;  // the store's when it was made
  std::string component;
  std::map<std::string, bool> from;  // only the gates that changed
  std::map<std::string, bool> to;

  api::Json ToJson() const;
};

// What is left empty matches everything. `component` is the one whose gates changed, or that wrote.
struct GateQuery {
  std::string component = {};
  std::string gate = {};
  std::string resource = {};
  api::ObjectName object = {};
};

class GateLog {
 public:
  static constexpr std::size_t kRecordsMax = 10'000;
  static constexpr std::size_t kChangesMax = 1'000;

  // Two sets that are the same are no change.
  void Change(api::Time time, std::int64_t revision, std::string_view component, const api::FeatureGates& from,
              const api::FeatureGates& to);

  struct Written {
    api::Time time{};
    std::int64_t revision = 0;
    std::string_view resource;
    api::ObjectName object;
    std::string_view uid;
    std::string_view writer;
  };
  // A field that appears is told only if it had been dropped or had vanished before: it has come back.
  void Note(const Written& written, const std::vector<GateNote>& notes);

  using Query = GateQuery;
  std::vector<GateChange> Changes(const Query& query = {}) const;
  std::vector<GateRecord> Fields(const Query& query = {}) const;
  // {"changes": [...], "fields": [...]}, both oldest first.
  api::Json Report(const Query& query = {}) const;

 private:
  // Of an object by its uid, and a field.
  using Key = std::pair<std::string, std::string>;
  struct Last {
    std::string what;
    std::uint64_t serial = 0;  // of its record
    std::int64_t changes = 0;  // how many changes of gates there were then
  };
  void NoteOne(const Written& written, const GateNote& note);

  mutable std::mutex mutex_;
  std::deque<GateChange> changes_;
  std::int64_t changes_made_ = 0;
  std::deque<GateRecord> records_;
  std::uint64_t first_serial_ = 0;  // of records_.front()
  std::map<Key, Last> last_;        // what was last told of a field; forgotten with its record
  std::deque<Key> told_;            // whom each record is about, in the order of records_
};

}  // namespace terrarium::apiserver
