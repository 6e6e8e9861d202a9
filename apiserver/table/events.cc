// How events are printed. Both groups serve the same objects under different field names; a document of
// either form prints alike.

#include "api/json_access.h"
#include "apiserver/table/internal/printer.h"

namespace terrarium::apiserver::table {
namespace {

using api::Json;

constexpr Column kEventColumns[] = {
    {"Last Seen", "string", "", "How long ago the event was seen last."},
    {"Type", "string", "", "Normal or Warning."},
    {"Reason", "string", "", "A short, machine readable word for why the event came about."},
    {"Object", "string", "", "The kind and name of the object that the event is about."},
    {"Subobject", "string", "", "The part of the object that the event is about, as a field path.", 1},
    {"Source", "string", "", "The component that reported the event, and where it runs.", 1},
    {"Message", "string", "", "What happened, for people to read."},
    {"First Seen", "string", "", "How long ago the event was seen first.", 1},
    {"Count", "string", "", "How often the event was seen.", 1},
    {"Name", "string", "name", kNameColumn.description, 1},
};

// The field under its core/v1 name, or else under its events.k8s.io/v1 name.
const Json* Either(const Json& event, std::string_view core, std::string_view grouped) {
  const Json* value = api::Find(event, core);
  return value != nullptr ? value : api::Find(event, grouped);
}

std::string_view EitherText(const Json& event, std::string_view core, std::string_view grouped) {
  std::string_view text = api::StringAt(event, core);
  return text.empty() ? api::StringAt(event, grouped) : text;
}

std::string Target(const Json& about) {
  std::string out;
  for (char c : api::StringAt(about, "kind"))
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (std::string_view name = api::StringAt(about, "name"); !name.empty()) out.append("/").append(name);
  return out;
}

std::string Source(const Json& event) {
  const Json* source = Either(event, "source", "deprecatedSource");
  std::string_view component = source == nullptr ? std::string_view() : api::StringAt(*source, "component");
  std::string_view host = source == nullptr ? std::string_view() : api::StringAt(*source, "host");
  if (component.empty()) component = EitherText(event, "reportingComponent", "reportingController");
  if (host.empty()) host = api::StringAt(event, "reportingInstance");
  std::string out(component);
  if (!host.empty()) out.append(", ").append(host);
  return out;
}

std::string_view TrimSpace(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::vector<Json> EventCells(const Json& event, api::Time now) {
  const Json* first = Either(event, "firstTimestamp", "deprecatedFirstTimestamp");
  const Json* last = Either(event, "lastTimestamp", "deprecatedLastTimestamp");
  const Json* count_field = Either(event, "count", "deprecatedCount");
  if (first == nullptr) first = api::Find(event, "eventTime");
  if (last == nullptr) last = first;
  std::int64_t count =
      count_field != nullptr && count_field->is_number_integer() ? count_field->get<std::int64_t>() : 0;
  if (const Json* series = api::Find(event, "series"); series != nullptr) {
    last = api::Find(*series, "lastObservedTime");
    count = api::IntAt(*series, 0, "count");
  } else if (count == 0) {
    count = 1;  // an event that has happened once has no count in the newer API
  }
  const Json* about = Either(event, "involvedObject", "regarding");
  const Json& object = about != nullptr ? *about : api::EmptyObject();
  return {Since(last, now),
          api::StringAt(event, "type"),
          api::StringAt(event, "reason"),
          Target(object),
          api::StringAt(object, "fieldPath"),
          Source(event),
          TrimSpace(EitherText(event, "message", "note")),
          Since(first, now),
          count,
          Name(event)};
}

constexpr Printer kEventPrinters[] = {
    {"", "Event", kEventColumns, EventCells},
    {"events.k8s.io", "Event", kEventColumns, EventCells},
};

}  // namespace

std::span<const Printer> EventPrinters() { return kEventPrinters; }

}  // namespace terrarium::apiserver::table
