#include "testbed/embedding/timeline.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "api/base/duration.h"
#include "api/json_access.h"
#include "apiserver/resource_registry.h"
#include "controllers/runtime/why.h"
#include "testbed/control_plane/control_plane.h"
#include "testbed/embedding/document_changes.h"
#include "testbed/embedding/views.h"

namespace terrarium::testbed {
namespace {

using api::Json;
using api::StringAt;
using Kind = TimelineEntry::Kind;

// EventsOf() drains a watch in batches of this size.
constexpr std::size_t kEventsPerTake = 10'000;

std::set<std::string> StoredResources(const apiserver::ResourceTable& served) {
  std::set<std::string> names;
  for (const apiserver::ResourceInfo& resource : served.all())
    if (!resource.storage.empty()) names.emplace(resource.storage);
  return names;
}

std::vector<storage::Event> EventsOf(storage::Store& store, const std::string& resource) {
  storage::WatchQuery query;
  query.resource = resource;
  query.from_revision = store.CompactedRevision();
  std::vector<storage::Event> out;
  auto watch = store.StartWatch(query);
  if (!watch) return out;
  for (std::size_t taken = kEventsPerTake; taken == kEventsPerTake;) {
    std::size_t had = out.size();
    if ((*watch)->Take(kEventsPerTake, out) != storage::Watch::State::kOpen) break;
    taken = out.size() - had;
  }
  return out;
}

Json ChangesToJson(const std::vector<FieldChange>& changes) {
  Json out = Json::array();
  for (const FieldChange& change : changes)
    out.push_back({{"path", change.path}, {"from", change.from}, {"to", change.to}});
  return out;
}

void FillWrite(const storage::Event& event, TimelineEntry& entry) {
  std::shared_ptr<const Json> document = event.object->Document();
  if (event.type == storage::EventType::kAdded) {
    entry.what = "create";
    entry.text = Highlights(*document);
    return;
  }
  if (event.type == storage::EventType::kDeleted) {
    entry.what = "delete";
    entry.text = Highlights(*document);
    return;
  }
  std::vector<FieldChange> changes = ChangesBetween(*event.previous->Document(), *document);
  entry.what = "update";
  entry.text = Summary(changes);
  entry.details = ChangesToJson(changes);
}

void FillEvent(const storage::Event& event, TimelineEntry& entry) {
  EventView view(event.object);
  entry.kind = Kind::kEvent;
  if (std::string reporter = view.reporter(); !reporter.empty()) entry.who = std::move(reporter);
  entry.what = view.reason();
  entry.resource = view.regarding_kind();
  entry.object = {std::string(StringAt(view.document(), "involvedObject", "namespace")),
                  view.regarding_name()};
  if (view.type() != "Normal") entry.text = view.type() + ": ";
  entry.text += view.message();
  if (view.count() > 1) entry.text += " (x" + std::to_string(view.count()) + ")";
}

bool IsHousekeeping(const std::string& resource, const storage::Event& event) {
  if (resource == "leases") return true;
  if (resource == "events") return event.type == storage::EventType::kDeleted;  // expired
  return resource == "nodes" && event.type == storage::EventType::kModified &&
         ChangesBetween(*event.previous->Document(), *event.object->Document()).empty();
}

// Finds the write that a decision led to: the first write to the object after the revision that the
// controller had seen. 0: there is none. The timeline puts the decision just before this write if both have
// the same time.
class WritesByObject {
 public:
  void Add(const std::string& resource, const storage::Event& event) {
    const api::ObjectHeader& header = event.object->header();
    revisions_[{resource, header.ns, header.name}].insert(event.revision());
  }
  std::int64_t After(const controllers::WhyRecord& record) const {
    auto found = revisions_.find({record.resource, record.object.ns, record.object.name});
    if (found == revisions_.end()) return 0;
    auto next = found->second.upper_bound(record.revision);
    return next == found->second.end() ? 0 : *next;
  }

 private:
  std::map<storage::ObjectKey, std::set<std::int64_t>> revisions_;
};

}  // namespace

struct Timeline::Item {
  enum class Rank { kWhy, kWrite, kNote };  // order of the items at one revision
  api::Time time{};
  std::int64_t revision = 0;
  Rank rank = Rank::kWrite;
  std::string who = {};
  const std::string* resource = nullptr;  // of a write
  storage::Event event = {};
  const TimelineEntry* note = nullptr;
  const controllers::WhyRecord* why = nullptr;
};

Timeline::Timeline(ControlPlane& control_plane)
    : served_(control_plane.handler().registry()),
      store_(control_plane.store()),
      clock_(control_plane.runtime()),
      why_(control_plane.components().why()),
      start_(clock_.Now()) {
  Wrote("cluster");
}

std::size_t Timeline::NameIndex(std::string_view who) {
  auto found = std::find(names_.begin(), names_.end(), who);
  if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  names_.emplace_back(who);
  return names_.size() - 1;
}

void Timeline::Wrote(std::string_view who) {
  std::int64_t revision = store_.CurrentRevision();
  if (!marks_.empty() && marks_.back().revision >= revision) return;
  Mark mark{revision, clock_.Now(), NameIndex(who)};
  if (!marks_.empty() && marks_.back().time == mark.time && marks_.back().who == mark.who) {
    marks_.back().revision = revision;
    return;
  }
  if (marks_.size() == kMarksMax) marks_.pop_front();
  marks_.push_back(mark);
}

void Timeline::Note(std::string_view who, std::string_view word, std::string text, Json details) {
  if (notes_.size() == kNotesMax) notes_.pop_front();
  TimelineEntry& entry = notes_.emplace_back();
  entry.kind = Kind::kNote;
  entry.time = clock_.Now();
  entry.revision = store_.CurrentRevision();
  entry.who = who;
  entry.what = word;
  entry.text = std::move(text);
  entry.details = std::move(details);
}

const Timeline::Mark* Timeline::MarkOf(std::int64_t revision) const {
  auto found = std::lower_bound(marks_.begin(), marks_.end(), revision,
                                [](const Mark& mark, std::int64_t r) { return mark.revision < r; });
  return found == marks_.end() ? nullptr : &*found;
}

std::vector<TimelineEntry> Timeline::Read(const TimelineQuery& query) const {
  auto within = [&query](api::Time time) {
    return (!query.from || *query.from <= time) && (!query.to || time <= *query.to);
  };
  std::vector<Item> items;
  WritesByObject writes;
  std::set<std::string> resources = StoredResources(*served_.Table());
  for (const std::string& resource : resources) {
    for (storage::Event& event : EventsOf(store_, resource)) {
      const Mark* mark = MarkOf(event.revision());
      // The revision is newer than the last Wrote(): it was written at the current time, by an unknown
      // author.
      api::Time time = mark == nullptr ? clock_.Now() : mark->time;
      if (!within(time) || (!query.housekeeping && IsHousekeeping(resource, event))) continue;
      writes.Add(resource, event);
      items.push_back({.time = time,
                       .revision = event.revision(),
                       .who = mark == nullptr ? "" : names_[mark->who],
                       .resource = &resource,
                       .event = std::move(event)});
    }
  }
  std::vector<controllers::WhyRecord> records = why_.Find();
  for (const controllers::WhyRecord& record : records) {
    if (!within(record.time)) continue;
    std::int64_t led_to = writes.After(record);
    const Mark* mark = led_to == 0 ? nullptr : MarkOf(led_to);
    bool precedes_write = mark != nullptr && mark->time == record.time;
    items.push_back({.time = record.time,
                     .revision = precedes_write ? led_to : record.revision,
                     .rank = precedes_write ? Item::Rank::kWhy : Item::Rank::kNote,
                     .why = &record});
  }
  for (const TimelineEntry& note : notes_)
    if (within(note.time))
      items.push_back(
          {.time = note.time, .revision = note.revision, .rank = Item::Rank::kNote, .note = &note});
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return std::tie(a.time, a.revision, a.rank) < std::tie(b.time, b.revision, b.rank);
  });

  auto middle = items.end();
  if (query.around > 0)
    middle = std::find_if(items.begin(), items.end(),
                          [&query](const Item& i) { return i.revision > query.around; });
  auto begin = static_cast<std::size_t>(middle - items.begin()) > query.before
                   ? middle - static_cast<std::ptrdiff_t>(query.before)
                   : items.begin();
  auto end = static_cast<std::size_t>(items.end() - middle) > query.after
                 ? middle + static_cast<std::ptrdiff_t>(query.after)
                 : items.end();
  std::vector<TimelineEntry> out;
  for (auto it = begin; it != end; ++it) out.push_back(EntryOf(*it));
  return out;
}

TimelineEntry Timeline::EntryOf(const Item& item) const {
  if (item.note != nullptr) return *item.note;
  TimelineEntry entry;
  entry.time = item.time;
  entry.revision = item.revision;
  if (item.why != nullptr) {
    entry.kind = Kind::kWhy;
    entry.revision = item.why->revision;
    entry.who = item.why->controller;
    entry.what = "why " + item.why->action;
    entry.resource = item.why->resource;
    entry.object = item.why->object;
    entry.text = item.why->rule;
    if (item.why->saw != nullptr) entry.details = *item.why->saw;
    return entry;
  }
  entry.who = item.who;
  entry.resource = *item.resource;
  entry.object = {item.event.object->header().ns, item.event.object->header().name};
  if (*item.resource == "events" && item.event.type != storage::EventType::kDeleted)
    FillEvent(item.event, entry);
  else
    FillWrite(item.event, entry);
  return entry;
}

std::string Timeline::TextOf(const std::vector<TimelineEntry>& entries) const {
  constexpr std::size_t kColumns = 5;
  using Row = std::array<std::string, kColumns + 1>;
  std::vector<Row> rows = {{"SINCE", "REVISION", "WHO", "WHAT", "OBJECT", "DETAILS"}};
  for (const TimelineEntry& entry : entries) {
    std::string object = entry.resource;
    if (!entry.object.name.empty()) object += (object.empty() ? "" : " ") + entry.object.String();
    // The revision that a controller had seen may be much older than its neighbors in this column and would
    // mislead.
    std::string revision = entry.kind == Kind::kWhy ? "" : std::to_string(entry.revision);
    rows.push_back({api::FormatDuration(entry.time - start_), std::move(revision), entry.who, entry.what,
                    std::move(object), entry.text});
  }
  std::array<std::size_t, kColumns> widths{};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string out = "since " + api::FormatTime(start_) + ":\n";
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < kColumns; ++i) {
      std::string pad(widths[i] - row[i].size(), ' ');
      line += (i < 2 ? pad + row[i] : row[i] + pad) + "  ";  // numbers are right-aligned
    }
    line += row[kColumns];
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

Json Timeline::ToJson(const std::vector<TimelineEntry>& entries) {
  constexpr const char* kKinds[] = {"write", "event", "why", "note"};
  Json out = Json::array();
  for (const TimelineEntry& entry : entries) {
    Json one = {{"kind", kKinds[static_cast<int>(entry.kind)]},
                {"time", api::FormatMicroTime(entry.time)},
                {"revision", entry.revision},
                {"what", entry.what}};
    if (!entry.who.empty()) one["who"] = entry.who;
    if (!entry.resource.empty()) one["resource"] = entry.resource;
    if (!entry.object.ns.empty()) one["namespace"] = entry.object.ns;
    if (!entry.object.name.empty()) one["name"] = entry.object.name;
    if (!entry.text.empty()) one["text"] = entry.text;
    if (!entry.details.is_null()) one["details"] = entry.details;
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace terrarium::testbed
