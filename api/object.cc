#include "api/object.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "api/apply/managed_fields.h"
#include "api/base/check.h"
#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "api/json_text.h"

namespace terrarium::api {
namespace {

constexpr std::string_view kBeforeRevision = R"({"metadata":{"resourceVersion":")";
// Reserved in the text of an object that has no revision yet.
constexpr std::size_t kRoomForRevision = 20;

void AppendMember(const std::string& key, const Json& value, std::string& out) {
  out += ",\"";
  out += key;  // a declared field: plain letters
  out += "\":";
  AppendJson(value, out);
}

// Keeps the most recently written or parsed documents alive, so that the scheduler, the kubelet and the
// controllers parse an object once between them. The cache is bounded, and it affects only speed.
struct DocumentCache {
  static constexpr std::size_t kShards = 16;
  static constexpr std::size_t kKeptPerShard = 16;

  static DocumentCache& Of(const void* object) {
    static std::array<DocumentCache, kShards> shards;
    return shards[(reinterpret_cast<std::uintptr_t>(object) >> 6) % kShards];
  }
  void Keep(std::shared_ptr<const Json> document) {
    kept[next] = std::move(document);
    next = (next + 1) % kKeptPerShard;
  }

  std::mutex mutex;
  std::array<std::shared_ptr<const Json>, kKeptPerShard> kept;
  std::size_t next = 0;
};

std::size_t RevisionLength(const std::string& body) {
  CHECK(body.starts_with(kBeforeRevision));
  std::size_t end = body.find('"', kBeforeRevision.size());
  CHECK(end != std::string::npos);
  return end - kBeforeRevision.size();
}

}  // namespace

namespace {

void AppendMetadata(const Json& document, std::int64_t revision, std::string& out) {
  out.append(kBeforeRevision).append(std::to_string(revision)).append("\"");
  if (auto metadata = document.find("metadata"); metadata != document.end()) {
    for (auto it = metadata->begin(); it != metadata->end(); ++it)
      if (it.key() != "resourceVersion") AppendMember(it.key(), *it, out);
  }
  out += '}';
}

}  // namespace

ObjectHeader ReadHeader(const Json& document) {
  const Json& metadata = ObjectAt(document, "metadata");
  ObjectHeader header;
  header.ns = StringAt(metadata, "namespace");
  header.name = StringAt(metadata, "name");
  header.uid = StringAt(metadata, "uid");
  const std::string_view version = StringAt(metadata, "resourceVersion");
  std::from_chars(version.data(), version.data() + version.size(), header.revision);
  // A JSON object's members are sorted, as the header's labels must be.
  const Json& labels = ObjectAt(metadata, "labels");
  header.labels.reserve(labels.size());
  for (const auto& [key, value] : labels.items()) header.labels.emplace_back(key, value.get<std::string>());
  header.controller = ControllerOf(document);
  header.phase = MemberName(StringAt(document, "status", "phase"));
  header.node_name = StringAt(document, "spec", "nodeName");
  header.deleting = Find(metadata, "deletionTimestamp") != nullptr;
  header.has_finalizers = !ListAt(metadata, "finalizers").empty();
  header.disruption_target = FindCondition(document, "DisruptionTarget") != nullptr;
  return header;
}

std::string EncodeBody(const Json& document, std::int64_t revision) {
  std::string out;
  out.reserve(2048);
  AppendMetadata(document, revision, out);
  for (auto it = document.begin(); it != document.end(); ++it)
    if (it.key() != "metadata" && it.key() != "kind" && it.key() != "apiVersion")
      AppendMember(it.key(), *it, out);
  out += '}';
  std::string fitting;
  fitting.reserve(out.size() + kRoomForRevision);
  fitting = out;
  return fitting;
}

ObjectPtr Object::Make(ObjectHeader header, Json document, bool keep_document, ManagedFieldsPtr owners) {
  std::string body = EncodeBody(document, header.revision);
  std::shared_ptr<Object> made(new Object(std::move(header), std::move(body), std::move(owners)));
  if (!keep_document) return made;
  document.erase("kind");
  document.erase("apiVersion");
  made->fresh_ = std::make_shared<Json>(std::move(document));
  return made;
}

ObjectPtr Object::MakeCarrying(ObjectHeader header, Json document, const Object& current,
                               std::span<const std::string_view> carried, ManagedFieldsPtr owners) {
  // Members are sorted by name, as in every text that we write.
  std::map<std::string_view, std::string_view> texts;
  for (std::string_view name : carried)
    if (std::string_view text = FindMember(current.body_, name); !text.empty()) texts.emplace(name, text);
  std::map<std::string_view, const Json*> members;
  for (auto it = document.begin(); it != document.end(); ++it)
    if (it.key() != "metadata" && !std::count(carried.begin(), carried.end(), it.key()))
      members.emplace(it.key(), &*it);
  for (const auto& [name, text] : texts) members.emplace(name, nullptr);

  std::string body;
  body.reserve(current.body_.size() + 512);
  AppendMetadata(document, header.revision, body);
  for (const auto& [name, value] : members) {
    if (value != nullptr)
      AppendMember(std::string(name), *value, body);
    else
      body.append(",\"").append(name).append("\":").append(texts[name]);
  }
  body += '}';
  return ObjectPtr(new Object(std::move(header), std::move(body), std::move(owners)));
}

ObjectPtr Object::FromBody(ObjectHeader header, std::string body, ManagedFieldsPtr owners) {
  CHECK(body.starts_with(kBeforeRevision));
  return ObjectPtr(new Object(std::move(header), std::move(body), std::move(owners)));
}

ObjectPtr Object::WithOwners(ManagedFieldsPtr owners) const {
  return ObjectPtr(new Object(header_, body_, std::move(owners)));
}

ObjectPtr Object::AtRevision(std::int64_t revision) const {
  std::shared_ptr<Object> stamped(new Object(header_, {}, owners_));
  stamped->body_.reserve(body_.size() + kRoomForRevision);
  stamped->body_ = body_;
  stamped->fresh_ = std::move(fresh_);
  stamped->Stamp(revision);
  return stamped;
}

ObjectPtr Object::AtRevision(ObjectPtr object, std::int64_t revision) {
  if (object.use_count() != 1) return object->AtRevision(revision);
  std::atomic_thread_fence(std::memory_order_acquire);  // after all use by former owners
  // Objects are never created const, and the caller holds the only reference, so the cast is safe.
  const_cast<Object&>(*object).Stamp(revision);
  return object;
}

void Object::Stamp(std::int64_t revision) {
  const std::string number = std::to_string(revision);
  header_.revision = revision;
  body_.replace(kBeforeRevision.size(), RevisionLength(body_), number);
  if (fresh_ == nullptr) return;
  std::shared_ptr<Json> document = std::move(fresh_);
  (*document)["metadata"]["resourceVersion"] = number;
  DocumentCache& cache = DocumentCache::Of(this);
  std::lock_guard lock(cache.mutex);
  document_ = document;
  cache.Keep(std::move(document));
}

Json Object::Parse() const { return ReadJson(body_); }

Json Object::ParseWithOwners() const {
  Json document = Parse();
  if (owners_ != nullptr) document["metadata"]["managedFields"] = ManagedFieldsJson(*owners_);
  return document;
}

std::shared_ptr<const Json> Object::Document() const {
  DocumentCache& cache = DocumentCache::Of(this);
  {
    std::lock_guard lock(cache.mutex);
    if (auto kept = document_.lock()) return kept;
  }
  auto parsed = std::make_shared<const Json>(Parse());
  std::lock_guard lock(cache.mutex);
  document_ = parsed;
  cache.Keep(parsed);
  return parsed;
}

void Object::AppendItem(std::string& out) const {
  out += '{';
  AppendRest(out);
}

void Object::AppendRest(std::string& out) const {
  const std::string_view rest = std::string_view(body_).substr(1);
  if (owners_ == nullptr) {
    out.append(rest);
    return;
  }
  const std::size_t after_revision = kBeforeRevision.size() - 1 + RevisionLength(body_) + 1;
  out.append(rest.substr(0, after_revision)).append(R"(,"managedFields":)");
  AppendManagedFields(*owners_, out);
  out.append(rest.substr(after_revision));
}

void Object::AppendText(std::string_view api_version, std::string_view kind, std::string& out) const {
  out.append(R"({"kind":")").append(kind).append(R"(","apiVersion":")").append(api_version).append("\",");
  AppendRest(out);
}

std::string Object::Text(std::string_view api_version, std::string_view kind) const {
  std::string out;
  out.reserve(body_.size() + kind.size() + api_version.size() + 32);
  AppendText(api_version, kind, out);
  return out;
}

const std::string* FindLabel(const ObjectHeader& header, std::string_view key) {
  auto it = std::lower_bound(header.labels.begin(), header.labels.end(), key,
                             [](const auto& label, std::string_view k) { return label.first < k; });
  return it != header.labels.end() && it->first == key ? &it->second : nullptr;
}

std::vector<std::string> FinalizersOf(const Object& object) {
  if (!object.header().has_finalizers) return {};
  const std::string_view text = FindMember(FindMember(object.body(), "metadata"), "finalizers");
  return text.empty() ? std::vector<std::string>() : ReadJson(text).get<std::vector<std::string>>();
}

bool HasFinalizer(const Object& object, std::string_view name) {
  const std::vector<std::string> finalizers = FinalizersOf(object);
  return std::find(finalizers.begin(), finalizers.end(), name) != finalizers.end();
}

}  // namespace terrarium::api
