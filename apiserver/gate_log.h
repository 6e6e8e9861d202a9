#pragma once

// Records the effect of writes on fields that belong to feature gates, and the changes of gates: an on-off-on
// sequence of a gate as the apiserver sees it. Thread-safe.

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
  kDropped,   // removed: the gate is off, and the stored object did not have the field
  kKept,      // kept although the gate is off: the stored object had the field
  kVanished,  // the stored object had the field, and the writer omitted it
  kAppeared,  // the stored object did not have the field, and has it now
};

// What a write did to a field.
struct GateNote {
  GatedField what;
  std::string field;  // "spec.podReplacementPolicy"
  std::string gate;
};

struct GateRecord {
  api::Time time{};
  std::int64_t revision = 0;  // of the write, or of the stored object if the write was a no-op
  std::string what;           // "dropped", "kept", "vanished", "came-back"
  std::string gate;
  std::string field;
  std::string resource;
  api::ObjectName object;
  std::string writer;  // the name of a component or of a user
  // How many writes did the same. They share one record until a write does something else to the field, or
  // gates change.
  std::int64_t times = 1;
  std::int64_t last_revision = 0;

  api::Json ToJson() const;
};

struct GateChange {
  api::Time time{};
  std::int64_t revision = 0;  // of the store at the time of the change
  std::string component;
  std::map<std::string, bool> from;  // only the gates that changed
  std::map<std::string, bool> to;

  api::Json ToJson() const;
};

// An empty member matches everything; `object` is compared only if `resource` is set. `component` is the
// component whose gates changed, or that wrote the object.
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

  // Records nothing if the two sets are equal.
  void Change(api::Time time, std::int64_t revision, std::string_view component,
              const api::FeatureGates& from, const api::FeatureGates& to);

  struct Written {
    api::Time time{};
    std::int64_t revision = 0;
    std::string_view resource;
    api::ObjectName object;
    std::string_view uid;
    std::string_view writer;
  };
  // Records that a field appeared only if its last record is "dropped" or "vanished": the field has come
  // back.
  void Note(const Written& written, const std::vector<GateNote>& notes);

  using Query = GateQuery;
  std::vector<GateChange> Changes(const Query& query = {}) const;
  std::vector<GateRecord> Fields(const Query& query = {}) const;
  // {"changes": [...], "fields": [...]}, both oldest first.
  api::Json Report(const Query& query = {}) const;

 private:
  // The uid of an object, and a field.
  using Key = std::pair<std::string, std::string>;
  struct Last {
    std::string what;
    std::uint64_t serial = 0;  // of its record
    std::int64_t changes = 0;  // the value of changes_made_ at that time
  };
  void NoteOne(const Written& written, const GateNote& note);

  mutable std::mutex mutex_;
  std::deque<GateChange> changes_;
  std::int64_t changes_made_ = 0;
  std::deque<GateRecord> records_;
  std::uint64_t first_serial_ = 0;  // of records_.front()
  std::map<Key, Last> last_;        // the last record of each field; erased together with that record
  std::deque<Key> keys_;            // the key of each record, in the order of records_
};

}  // namespace terrarium::apiserver
