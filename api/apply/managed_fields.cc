#include "api/apply/managed_fields.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "api/apply/fields_v1.h"
#include "api/base/field_error.h"
#include "api/json_access.h"
#include "api/json_text.h"

namespace terrarium::api {
namespace {

std::int64_t Seconds(const std::optional<Time>& time) {
  if (!time) return 0;
  return std::chrono::floor<std::chrono::seconds>(*time).time_since_epoch().count();
}

bool IsBefore(const ManagedEntry& a, const ManagedEntry& b) {
  const FieldManager& x = a.manager;
  const FieldManager& y = b.manager;
  if (x.applied != y.applied) return x.applied;  // Apply before Update
  return std::make_tuple(Seconds(a.time), std::string_view(x.name.text()),
                         std::string_view(x.api_version.text()), std::string_view(x.subresource.text())) <
         std::make_tuple(Seconds(b.time), std::string_view(y.name.text()),
                         std::string_view(y.api_version.text()), std::string_view(y.subresource.text()));
}

std::optional<ManagedEntry> ReadEntry(const Json& json, std::size_t index, std::string* error) {
  const std::string at = " in managed fields entry " + std::to_string(index);
  const std::string_view operation = StringAt(json, "operation");
  if (operation != "Apply" && operation != "Update")
    return *error = "operation must be `Apply` or `Update`", std::nullopt;
  const std::string_view version = StringAt(json, "apiVersion");
  if (version.empty()) return *error = "apiVersion must not be empty", std::nullopt;
  const std::string_view type = StringAt(json, "fieldsType");
  if (type.empty()) return *error = "missing fieldsType" + at, std::nullopt;
  if (type != "FieldsV1") return *error = "invalid fieldsType " + Quote(std::string(type)) + at, std::nullopt;
  ManagedEntry entry;
  entry.manager = {MemberName(StringAt(json, "manager")), MemberName(version),
                   MemberName(StringAt(json, "subresource")), operation == "Apply"};
  if (const std::string_view time = StringAt(json, "time"); !time.empty()) entry.time = ParseTime(time);
  const Json* fields = Find(json, "fieldsV1");
  auto set = ReadFieldsV1(fields != nullptr ? *fields : EmptyObject(), error);
  if (!set) return std::nullopt;
  entry.fields = std::move(*set);
  return entry;
}

void AppendText(const char* name, const std::string& value, std::string& out) {
  if (value.empty()) return;
  out.append("\"").append(name).append("\":");
  AppendJson(Json(value), out);
  out += ',';
}

}  // namespace

bool FieldManager::IsSame(const FieldManager& other) const {
  return applied == other.applied && name == other.name && subresource == other.subresource &&
         (applied || api_version == other.api_version);
}

std::string FieldManager::Identifier() const {
  std::string out = "{";
  AppendText("manager", name.text(), out);
  AppendText("operation", applied ? "Apply" : "Update", out);
  if (!applied) AppendText("apiVersion", api_version.text(), out);
  AppendText("subresource", subresource.text(), out);
  out.back() = '}';
  return out;
}

std::string FieldManager::ToString() const {
  std::string text = Quote(name.text());
  if (!subresource.text().empty()) text += " with subresource " + Quote(subresource.text());
  if (!applied) text += " using " + api_version.text();
  return text;
}

ManagedEntry* ManagedFields::Find(const FieldManager& manager) {
  return const_cast<ManagedEntry*>(std::as_const(*this).Find(manager));
}

const ManagedEntry* ManagedFields::Find(const FieldManager& manager) const {
  const auto it = std::find_if(entries_.begin(), entries_.end(),
                               [&](const ManagedEntry& entry) { return entry.manager.IsSame(manager); });
  return it != entries_.end() ? &*it : nullptr;
}

void ManagedFields::Sort() { std::stable_sort(entries_.begin(), entries_.end(), IsBefore); }

bool ManagedFields::IsSameButForTimes(const ManagedFields& other) const {
  return std::equal(entries_.begin(), entries_.end(), other.entries_.begin(), other.entries_.end(),
                    [](const ManagedEntry& a, const ManagedEntry& b) {
                      return a.manager.IsSame(b.manager) && a.manager.api_version == b.manager.api_version &&
                             Equal(a.fields, b.fields);
                    });
}

bool ManagedFields::operator==(const ManagedFields& other) const {
  return IsSameButForTimes(other) &&
         std::equal(entries_.begin(), entries_.end(), other.entries_.begin(),
                    [](const ManagedEntry& a, const ManagedEntry& b) { return a.time == b.time; });
}

std::size_t ManagedFields::ApproximateBytes() const {
  constexpr std::size_t kRestOfEntry = 128;  // its other members, and their names
  std::size_t bytes = 0;
  for (const ManagedEntry& entry : entries_)
    bytes += kRestOfEntry + entry.manager.name.text().size() + entry.manager.api_version.text().size() +
             entry.manager.subresource.text().size() +
             (entry.fields == nullptr ? 0 : entry.fields->ApproximateBytes());
  return bytes;
}

std::optional<ManagedFields> ReadManagedFields(const Json& list, std::string* error) {
  ManagedFields managed;
  if (!list.is_array()) return managed;
  std::map<std::string, ManagedEntry> entries;  // of two entries of one manager the last one counts
  for (std::size_t i = 0; i < list.size(); ++i) {
    auto entry = ReadEntry(list[i], i, error);
    if (!entry) return std::nullopt;
    std::string identifier = entry->manager.Identifier();
    entry->fields = Intern(entry->fields);
    entries.insert_or_assign(std::move(identifier), std::move(*entry));
  }
  for (auto& [identifier, entry] : entries)
    if (entry.fields != nullptr) managed.entries().push_back(std::move(entry));
  managed.Sort();
  return managed;
}

bool IsReset(const Json& list) {
  if (!list.is_array()) return false;
  return list.empty() || (list.size() == 1 && list[0].is_object() && list[0].empty());
}

Json ManagedFieldsJson(const ManagedFields& managed) {
  Json list = Json::array();
  for (const ManagedEntry& entry : managed.entries()) {
    Json json = Json::object();
    const FieldManager& manager = entry.manager;
    json["apiVersion"] = manager.api_version.text();
    json["fieldsType"] = "FieldsV1";
    json["fieldsV1"] = FieldsV1Of(entry.fields);
    if (!manager.name.text().empty()) json["manager"] = manager.name.text();
    json["operation"] = manager.applied ? "Apply" : "Update";
    if (!manager.subresource.text().empty()) json["subresource"] = manager.subresource.text();
    if (entry.time) json["time"] = FormatTime(*entry.time);
    list.push_back(std::move(json));
  }
  return list;
}

void AppendManagedFields(const ManagedFields& managed, std::string& out) {
  out += '[';
  for (const ManagedEntry& entry : managed.entries()) {
    const FieldManager& manager = entry.manager;
    out += out.back() == '[' ? "{" : ",{";
    AppendText("manager", manager.name.text(), out);
    AppendText("operation", manager.applied ? "Apply" : "Update", out);
    AppendText("apiVersion", manager.api_version.text(), out);
    if (entry.time) AppendText("time", FormatTime(*entry.time), out);
    out += R"("fieldsType":"FieldsV1","fieldsV1":)";
    AppendFieldsV1(entry.fields, out);
    if (!manager.subresource.text().empty()) {
      out += R"(,"subresource":)";
      AppendJson(Json(manager.subresource.text()), out);
    }
    out += '}';
  }
  out += ']';
}

}  // namespace terrarium::api
