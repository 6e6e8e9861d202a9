#include "testbed/embedding/document_changes.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "api/json_access.h"

namespace terrarium::testbed {
namespace {

using api::Json;
using api::StringAt;

constexpr std::size_t kShown = 5;
constexpr std::size_t kValueCharsMax = 48;

constexpr std::array<std::string_view, 9> kUninteresting = {
    "resourceVersion",
    "managedFields",
    "lastTransitionTime",
    "lastUpdateTime",
    "lastProbeTime",
    "lastHeartbeatTime",
    "generation",
    "kubectl.kubernetes.io/last-applied-configuration",
    "uid"};

bool IsInteresting(std::string_view key) {
  return std::find(kUninteresting.begin(), kUninteresting.end(), key) == kUninteresting.end();
}

std::string Shortened(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  if (text.size() <= kValueCharsMax) return text;
  std::size_t end = kValueCharsMax - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not inside a character
  return text.substr(0, end) + "...";
}

bool IsCondition(const Json& value) {
  return value.is_object() && value.contains("type") && value.contains("status");
}

// A new status or reason is reported as one change of the whole condition. A new message alone is a change of
// that field.
bool IsOtherCondition(const Json& before, const Json& after) {
  return IsCondition(before) && IsCondition(after) &&
         (StringAt(before, "status") != StringAt(after, "status") ||
          StringAt(before, "reason") != StringAt(after, "reason"));
}

std::string Shown(const Json& value) {
  if (value.is_null()) return "none";
  if (value.is_string()) return Shortened(value.get<std::string>());
  // Shows a condition as its status and reason.
  if (IsCondition(value)) {
    std::string reason(StringAt(value, "reason"));
    return std::string(StringAt(value, "status")) + (reason.empty() ? "" : " (" + reason + ")");
  }
  return Shortened(value.dump());
}

std::string Below(const std::string& path, const std::string& key) {
  if (path.empty()) return key;
  bool plain = key.find_first_of("./") == std::string::npos;
  return plain ? path + "." + key : path + "[" + key + "]";
}

// The member that identifies the items of both lists: present in every item and unique in each list. Empty:
// there is none.
std::string_view KeyOf(const Json& before, const Json& after) {
  for (std::string_view key : {"type", "name"}) {
    bool all = !(before.empty() && after.empty());
    for (const Json* list : {&before, &after}) {
      std::set<std::string_view> seen;
      for (const Json& item : *list) {
        std::string_view value = StringAt(item, key);
        all = all && !value.empty() && seen.insert(value).second;
      }
    }
    if (all) return key;
  }
  return {};
}

class Comparison {
 public:
  void Compare(const std::string& path, const Json& before, const Json& after) {
    if (before == after) return;
    if (before.is_object() && after.is_object()) return Objects(path, before, after);
    if (before.is_array() && after.is_array()) return Lists(path, before, after);
    found.push_back({path, before, after});
  }

  std::vector<FieldChange> found;

 private:
  void Member(const std::string& path, const std::string& key, const Json* before, const Json* after) {
    static const Json kNone;
    if (!IsInteresting(key)) return;
    const Json& from = before == nullptr ? kNone : *before;
    const Json& to = after == nullptr ? kNone : *after;
    // An object or list that appears or disappears as a whole, such as status or labels, is reported by
    // member.
    bool opened = (before == nullptr && after->is_object() && !after->contains("type")) ||
                  (after == nullptr && before->is_object() && !before->contains("type"));
    if (opened)
      return Objects(Below(path, key), before == nullptr ? api::EmptyObject() : from,
                     after == nullptr ? api::EmptyObject() : to);
    bool opened_list = (before == nullptr && after->is_array()) || (after == nullptr && before->is_array());
    if (opened_list)
      return Lists(Below(path, key), before == nullptr ? api::EmptyList() : from,
                   after == nullptr ? api::EmptyList() : to);
    Compare(Below(path, key), from, to);
  }

  void Objects(const std::string& path, const Json& before, const Json& after) {
    std::set<std::string_view> keys;
    for (const Json* object : {&before, &after})
      for (auto it = object->begin(); it != object->end(); ++it) keys.insert(it.key());
    for (std::string_view key : keys)
      Member(path, std::string(key), api::Find(before, key), api::Find(after, key));
  }

  void Lists(const std::string& path, const Json& before, const Json& after) {
    std::string_view key = KeyOf(before, after);
    if (key.empty()) {
      found.push_back({path, before, after});
      return;
    }
    std::map<std::string_view, std::pair<const Json*, const Json*>> items;
    for (const Json& item : before) items[StringAt(item, key)].first = &item;
    for (const Json& item : after) items[StringAt(item, key)].second = &item;
    for (const auto& [name, states] : items) {
      std::string at = path + "[" + std::string(name) + "]";
      bool whole = states.first == nullptr || states.second == nullptr ||
                   IsOtherCondition(*states.first, *states.second);
      if (!whole)
        Compare(at, *states.first, *states.second);
      else
        found.push_back({at, states.first == nullptr ? Json() : *states.first,
                         states.second == nullptr ? Json() : *states.second});
    }
  }
};

// Sort key: metadata last, otherwise shallow fields first. A pod's phase is more informative than the state
// of one of its containers.
std::pair<bool, std::ptrdiff_t> Importance(const std::string& path) {
  return {path.starts_with("metadata."),
          std::count_if(path.begin(), path.end(), [](char c) { return c == '.' || c == '['; })};
}

// Moves the start of a deletion to the front and drops the grace period, which the deletion implies.
void PutDeletionFirst(std::vector<FieldChange>& changes) {
  auto begun = std::find_if(changes.begin(), changes.end(), [](const FieldChange& change) {
    return change.path == "metadata.deletionTimestamp" && change.from.is_null();
  });
  if (begun == changes.end()) return;
  std::rotate(changes.begin(), begun, begun + 1);
  std::erase_if(changes,
                [](const FieldChange& c) { return c.path == "metadata.deletionGracePeriodSeconds"; });
}

}  // namespace

std::string FieldChange::String() const {
  if (path == "metadata.deletionTimestamp" && from.is_null()) return "terminating, until " + Shown(to);
  return path + " " + Shown(from) + " -> " + Shown(to);
}

std::vector<FieldChange> ChangesBetween(const Json& before, const Json& after) {
  Comparison comparison;
  comparison.Compare("", before, after);
  std::vector<FieldChange> changes = std::move(comparison.found);
  std::stable_sort(changes.begin(), changes.end(), [](const FieldChange& a, const FieldChange& b) {
    return Importance(a.path) < Importance(b.path);
  });
  PutDeletionFirst(changes);
  return changes;
}

std::string Summary(const std::vector<FieldChange>& changes) {
  std::string out;
  for (std::size_t i = 0; i < changes.size() && i < kShown; ++i)
    out += (i == 0 ? "" : ", ") + changes[i].String();
  if (changes.size() > kShown) out += ", and " + std::to_string(changes.size() - kShown) + " more";
  return out;
}

std::string Highlights(const Json& object) {
  std::vector<std::string> words;
  for (const Json& owner : api::ListAt(object, "metadata", "ownerReferences"))
    if (api::BoolAt(owner, "controller"))
      words.push_back("of " + std::string(StringAt(owner, "kind")) + " " +
                      std::string(StringAt(owner, "name")));
  for (const char* field : {"replicas", "parallelism", "completions", "nodeName"})
    if (const Json* value = api::Find(object, "spec", field))
      words.push_back(std::string(field) + " " + Shown(*value));
  if (auto phase = StringAt(object, "status", "phase"); !phase.empty())
    words.push_back("phase " + std::string(phase));
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

}  // namespace terrarium::testbed
