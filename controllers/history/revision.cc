#include "controllers/history/revision.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "api/json_access.h"
#include "api/json_text.h"
#include "controllers/runtime/name_hash.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::history {
namespace {

using api::Json;

constexpr std::size_t kOwnerNameMax = 223;

// Go's encoder writes these characters as escapes; in JSON they occur within strings only.
std::string GoText(const Json& data) {
  std::string plain;
  api::AppendJson(data, plain);
  if (plain.find_first_of("<>&\xe2") == std::string::npos) return plain;
  static constexpr std::pair<std::string_view, std::string_view> kEscapes[] = {{"<", "\\u003c"},
                                                                               {">", "\\u003e"},
                                                                               {"&", "\\u0026"},
                                                                               {"\xe2\x80\xa8", "\\u2028"},
                                                                               {"\xe2\x80\xa9", "\\u2029"}};
  std::string text;
  for (std::string_view rest = plain; !rest.empty();) {
    auto escape = std::find_if(std::begin(kEscapes), std::end(kEscapes),
                               [&](const auto& entry) { return rest.starts_with(entry.first); });
    if (escape == std::end(kEscapes)) {
      text += rest.front();
      rest.remove_prefix(1);
    } else {
      text += escape->second;
      rest.remove_prefix(escape->first.size());
    }
  }
  return text;
}

}  // namespace

std::int64_t NumberOf(const api::Object& revision) { return api::IntAt(*revision.Document(), 0, "revision"); }

std::string_view HashOf(const api::Object& revision) {
  const std::string* label = api::FindLabel(revision.header(), kRevisionHashLabel);
  return label == nullptr ? std::string_view() : *label;
}

void Sort(std::vector<ObjectPtr>& revisions) {
  using Key = std::tuple<std::int64_t, std::string, std::string>;
  std::vector<std::pair<Key, ObjectPtr>> keyed;
  keyed.reserve(revisions.size());
  for (ObjectPtr& revision : revisions) {
    // Timestamps in whole seconds of UTC sort as text.
    std::string created(api::StringAt(*revision->Document(), "metadata", "creationTimestamp"));
    Key key(NumberOf(*revision), std::move(created), revision->header().name);
    keyed.emplace_back(std::move(key), std::move(revision));
  }
  std::sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::transform(keyed.begin(), keyed.end(), revisions.begin(),
                 [](auto& entry) { return std::move(entry.second); });
}

std::int64_t NextNumber(const std::vector<ObjectPtr>& revisions) {
  std::int64_t largest = 0;
  for (const ObjectPtr& revision : revisions) largest = std::max(largest, NumberOf(*revision));
  return largest + 1;
}

Json TemplateData(const Json& owner) {
  Json pod_template = api::ObjectAt(owner, "spec", "template");
  pod_template["$patch"] = "replace";
  Json data;
  data["spec"]["template"] = std::move(pod_template);
  return data;
}

Json TemplateOf(const api::Object& revision) {
  Json pod_template = api::ObjectAt(*revision.Document(), "data", "spec", "template");
  pod_template.erase("$patch");
  return pod_template;
}

bool HasData(const api::Object& revision, const Json& data) {
  return api::ObjectAt(*revision.Document(), "data") == data;
}

std::vector<ObjectPtr> FindEqual(const std::vector<ObjectPtr>& revisions, const Json& data) {
  std::vector<ObjectPtr> equal;
  std::copy_if(revisions.begin(), revisions.end(), std::back_inserter(equal),
               [&](const ObjectPtr& revision) { return HasData(*revision, data); });
  return equal;
}

std::string DataHash(const Json& data, std::optional<std::int64_t> collision_count) {
  std::uint32_t hash = Fnv1(GoText(data));
  if (collision_count) hash = Fnv1(std::to_string(*collision_count), hash);
  return SafeEncode(hash);
}

std::string RevisionName(std::string_view owner, std::string_view hash) {
  std::string name(owner.substr(0, kOwnerNameMax));
  return name.append("-").append(hash);
}

Json NewRevision(const api::Object& owner, const Json& owner_document, std::string_view owner_kind, Json data,
                 std::int64_t number) {
  Json metadata = {{"namespace", owner.header().ns}};
  metadata["labels"] = api::ObjectAt(owner_document, "spec", "template", "metadata", "labels");
  if (const Json* annotations = api::Find(owner_document, "metadata", "annotations"))
    metadata["annotations"] = *annotations;
  metadata["ownerReferences"] = Json::array({ControllerReference(owner, "apps/v1", owner_kind)});
  return {{"metadata", std::move(metadata)}, {"data", std::move(data)}, {"revision", number}};
}

void NameByData(Json& revision, std::string_view owner, std::optional<std::int64_t> collision_count) {
  std::string hash = DataHash(api::ObjectAt(revision, "data"), collision_count);
  Json& metadata = revision["metadata"];
  metadata["name"] = RevisionName(owner, hash);
  Json& label = metadata["labels"][std::string(kHashLabel)];
  if (label.is_null()) label = std::move(hash);
}

std::vector<ObjectPtr> OldestUnused(const std::vector<ObjectPtr>& sorted, std::size_t count,
                                    const std::function<bool(const api::Object&)>& in_use) {
  std::vector<ObjectPtr> unused;
  for (const ObjectPtr& revision : sorted) {
    if (unused.size() == count) break;
    if (!in_use(*revision)) unused.push_back(revision);
  }
  return unused;
}

}  // namespace terrarium::controllers::history
