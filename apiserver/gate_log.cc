#include "apiserver/gate_log.h"

namespace terrarium::apiserver {
namespace {

const char* NameOf(GatedField what) {
  switch (what) {
    case GatedField::kDropped: return "dropped";
    case GatedField::kKept: return "kept";
    case GatedField::kVanished: return "vanished";
    case GatedField::kAppeared: return "came-back";
  }
  return "";
}

bool Matches(const GateLog::Query& query, const GateChange& change) {
  if (!query.component.empty() && query.component != change.component) return false;
  return query.gate.empty() || change.to.contains(query.gate);
}

bool Matches(const GateLog::Query& query, const GateRecord& record) {
  if (!query.component.empty() && query.component != record.writer) return false;
  if (!query.gate.empty() && query.gate != record.gate) return false;
  return query.resource.empty() || (query.resource == record.resource && query.object == record.object);
}

template <typename Record>
std::vector<Record> Select(const std::deque<Record>& records, const GateLog::Query& query) {
  std::vector<Record> out;
  for (const Record& record : records)
    if (Matches(query, record)) out.push_back(record);
  return out;
}

}  // namespace

api::Json GateRecord::ToJson() const {
  api::Json out = {{"time", api::FormatMicroTime(time)},
                   {"revision", revision},
                   {"what", what},
                   {"gate", gate},
                   {"field", field},
                   {"resource", resource},
                   {"name", object.name},
                   {"writer", writer}};
  if (!object.ns.empty()) out["namespace"] = object.ns;
  if (times > 1) {
    out["times"] = times;
    out["lastRevision"] = last_revision;
  }
  return out;
}

api::Json GateChange::ToJson() const {
  return {{"time", api::FormatMicroTime(time)},
          {"revision", revision},
          {"component", component},
          {"from", from},
          {"to", to}};
}

void GateLog::Change(api::Time time, std::int64_t revision, std::string_view component,
                     const api::FeatureGates& from, const api::FeatureGates& to) {
  GateChange change{time, revision, std::string(component), {}, {}};
  for (const auto& [gate, on] : to.values()) {
    if (from.Enabled(gate) == on) continue;
    change.from[gate] = !on;
    change.to[gate] = on;
  }
  if (change.to.empty()) return;
  std::lock_guard lock(mutex_);
  ++changes_made_;
  if (changes_.size() == kChangesMax) changes_.pop_front();
  changes_.push_back(std::move(change));
}

void GateLog::Note(const Written& written, const std::vector<GateNote>& notes) {
  if (notes.empty()) return;
  std::lock_guard lock(mutex_);
  for (const GateNote& note : notes) NoteOne(written, note);
}

void GateLog::NoteOne(const Written& written, const GateNote& note) {
  Key key{std::string(written.uid), note.field};
  auto last = last_.find(key);
  const bool missing = last != last_.end() && (last->second.what == NameOf(GatedField::kDropped) ||
                                               last->second.what == NameOf(GatedField::kVanished));
  if (note.what == GatedField::kAppeared && !missing) return;
  if (last != last_.end() && last->second.what == NameOf(note.what) &&
      last->second.changes == changes_made_) {
    GateRecord& repeated = records_[last->second.serial - first_serial_];
    ++repeated.times;
    repeated.last_revision = written.revision;
    return;
  }
  if (records_.size() == kRecordsMax) {
    auto oldest = last_.find(keys_.front());
    if (oldest != last_.end() && oldest->second.serial == first_serial_) last_.erase(oldest);
    records_.pop_front();
    keys_.pop_front();
    ++first_serial_;
  }
  last_[key] = {NameOf(note.what), first_serial_ + records_.size(), changes_made_};
  records_.push_back({written.time, written.revision, NameOf(note.what), note.gate, note.field,
                      std::string(written.resource), written.object, std::string(written.writer), 1,
                      written.revision});
  keys_.push_back(std::move(key));
}

std::vector<GateChange> GateLog::Changes(const Query& query) const {
  std::lock_guard lock(mutex_);
  return Select(changes_, query);
}

std::vector<GateRecord> GateLog::Fields(const Query& query) const {
  std::lock_guard lock(mutex_);
  return Select(records_, query);
}

api::Json GateLog::Report(const Query& query) const {
  api::Json changes = api::Json::array();
  for (const GateChange& change : Changes(query)) changes.push_back(change.ToJson());
  api::Json fields = api::Json::array();
  for (const GateRecord& record : Fields(query)) fields.push_back(record.ToJson());
  return {{"changes", std::move(changes)}, {"fields", std::move(fields)}};
}

}  // namespace terrarium::apiserver
