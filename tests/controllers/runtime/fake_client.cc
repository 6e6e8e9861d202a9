#include "tests/controllers/runtime/fake_client.h"

#include <algorithm>
#include <utility>

#include "api/base/check.h"
#include "api/base/errors.h"
#include "api/json_access.h"
#include "api/patch/json_patch.h"
#include "api/patch/merge_patch.h"
#include "api/patch/strategic_merge.h"
#include "api/schema/schema.h"

namespace terrarium::controllers_testing {
namespace {

using api::Json;
using api::ObjectName;
using api::ObjectPtr;
using api::StringAt;

// The kinds whose strategic merge patches are supported.
const api::Message& SchemaOf(std::string_view resource) {
  static const std::map<std::string_view, std::string_view> kSchemas = {
      {"controllerrevisions", "io.k8s.api.apps.v1.ControllerRevision"},
      {"deployments", "io.k8s.api.apps.v1.Deployment"},
      {"events", "io.k8s.api.core.v1.Event"},
      {"jobs", "io.k8s.api.batch.v1.Job"},
      {"leases", "io.k8s.api.coordination.v1.Lease"},
      {"namespaces", "io.k8s.api.core.v1.Namespace"},
      {"nodes", "io.k8s.api.core.v1.Node"},
      {"pods", "io.k8s.api.core.v1.Pod"},
      {"replicasets", "io.k8s.api.apps.v1.ReplicaSet"},
  };
  auto it = kSchemas.find(resource);
  CHECK(it != kSchemas.end());
  return api::Schema::Get().Must(it->second);
}

ObjectName NameOf(const Json& document) {
  std::string_view ns = StringAt(document, "metadata", "namespace");
  return {std::string(ns), std::string(StringAt(document, "metadata", "name"))};
}

api::Status Missing(std::string_view resource, const ObjectName& name) {
  return api::NotFound({.group = "", .resource = std::string(resource)}, name.name);
}

}  // namespace

ObjectPtr MakeObject(const Json& document, std::int64_t revision) {
  api::ObjectHeader header = api::ReadHeader(document);
  header.revision = revision;
  return api::Object::Make(std::move(header), document);
}

class FakeClient::FakeWatch : public api::ClientWatch {
 public:
  FakeWatch(FakeClient& client, std::string resource, std::int64_t from)
      : client_(client), resource_(std::move(resource)), delivered_(from) {
    client_.open_.push_back(this);
  }
  ~FakeWatch() override { std::erase(client_.open_, this); }

  State Take(std::size_t max, std::vector<api::WatchEvent>& out) override {
    const auto& history = client_.history_[resource_];
    auto after = [](std::int64_t revision, const api::WatchEvent& event) {
      return revision < event.object->revision();
    };
    auto next = std::upper_bound(history.begin(), history.end(), delivered_, after);
    auto last = std::upper_bound(next, history.end(), end_.value_or(client_.revision_), after);
    for (; next != last && max > 0; ++next, --max) {
      out.push_back(*next);
      delivered_ = next->object->revision();
    }
    if (next != last) return State::kOpen;
    delivered_ = end_.value_or(client_.revision_);
    emptied_ = max > 0;
    return end_ ? State::kEnded : State::kOpen;
  }
  void SetWake(std::function<void()> wake) override {
    wake_ = std::make_shared<std::function<void()>>(std::move(wake));
  }
  std::int64_t DeliveredRevision() const override { return delivered_; }

  void Wake(const std::string& resource) {
    if (resource != resource_ || !emptied_ || wake_ == nullptr) return;
    emptied_ = false;
    client_.runtime_.Post([weak = std::weak_ptr(wake_)] {
      if (auto wake = weak.lock()) (*wake)();
    });
  }
  void End() {
    end_ = client_.revision_;
    Wake(resource_);
  }

 private:
  FakeClient& client_;
  const std::string resource_;
  std::int64_t delivered_;
  bool emptied_ = false;
  std::optional<std::int64_t> end_;  // no event after this revision is delivered
  std::shared_ptr<std::function<void()>> wake_;
};

FakeClient::FakeClient(FakeRuntime& runtime) : runtime_(runtime) {}
FakeClient::~FakeClient() = default;

ObjectPtr FakeClient::Put(const std::string& resource, Json document) {
  ObjectPtr& place = resources_[resource][NameOf(document)];
  Json& metadata = document["metadata"];
  if (!metadata.contains("uid"))
    metadata["uid"] = place == nullptr ? runtime_.env().prng.Uuid() : place->header().uid;
  const auto type = place == nullptr ? api::WatchEvent::Type::kAdded : api::WatchEvent::Type::kModified;
  place = MakeObject(document, ++revision_);
  Publish(resource, {type, place});
  return place;
}

void FakeClient::Remove(const std::string& resource, const ObjectName& name) {
  auto place = resources_[resource].find(name);
  CHECK(place != resources_[resource].end());
  ObjectPtr last = place->second->AtRevision(++revision_);
  resources_[resource].erase(place);
  Publish(resource, {api::WatchEvent::Type::kDeleted, last});
}

ObjectPtr FakeClient::Find(const std::string& resource, const ObjectName& name) const {
  auto objects = resources_.find(resource);
  if (objects == resources_.end()) return nullptr;
  auto place = objects->second.find(name);
  return place == objects->second.end() ? nullptr : place->second;
}

void FakeClient::Publish(const std::string& resource, api::WatchEvent event) {
  history_[resource].push_back(std::move(event));
  for (FakeWatch* watch : open_) watch->Wake(resource);
}

void FakeClient::EndWatches() {
  for (FakeWatch* watch : open_) watch->End();
}

void FakeClient::ReleaseWrites() {
  holding_ = false;
  for (const auto& [request, done] : std::exchange(held_, {})) Perform(request, done);
}

void FakeClient::Send(api::WriteRequest request, WriteDone done) {
  writes.push_back(request);
  if (holding_)
    held_.emplace_back(std::move(request), std::move(done));
  else
    Perform(request, done);
}

void FakeClient::Perform(const api::WriteRequest& request, const WriteDone& done) {
  std::optional<api::Status> failure;
  if (!write_failures.empty()) {
    failure = write_failures.front();
    write_failures.pop_front();
  }
  auto perform = [&]() -> Written {
    if (failure) return *failure;
    switch (request.verb) {
      case api::WriteRequest::Verb::kCreate: return Create(request);
      case api::WriteRequest::Verb::kUpdate: return Update(request);
      case api::WriteRequest::Verb::kPatch: return Patch(request);
      case api::WriteRequest::Verb::kDelete: break;
    }
    return Delete(request);
  };
  runtime_.Post([done, written = perform()] { done(written); });
}

api::Client::Written FakeClient::Create(const api::WriteRequest& request) {
  if (!request.subresource.empty()) return ObjectPtr();
  Json document = request.body;
  Json& metadata = document["metadata"];
  if (!request.object.ns.empty()) metadata["namespace"] = request.object.ns;
  if (StringAt(metadata, "name").empty())
    metadata["name"] = std::string(StringAt(metadata, "generateName")) + runtime_.env().prng.NameSuffix();
  if (Find(request.resource, NameOf(document)) != nullptr)
    return api::AlreadyExists({.group = "", .resource = request.resource}, StringAt(metadata, "name"));
  metadata["creationTimestamp"] = api::FormatTime(runtime_.Now());
  return Put(request.resource, std::move(document));
}

api::Client::Written FakeClient::Update(const api::WriteRequest& request) {
  ObjectPtr current = Find(request.resource, request.object);
  if (current == nullptr) return Missing(request.resource, request.object);
  std::string_view revision = StringAt(request.body, "metadata", "resourceVersion");
  if (!revision.empty() && revision != std::to_string(current->revision()))
    return api::ModifiedConflict({.group = "", .resource = request.resource}, request.object.name);
  if (request.subresource.empty()) return Put(request.resource, request.body);
  Json document = current->Parse();
  if (const Json* status = api::Find(request.body, "status")) document["status"] = *status;
  return Put(request.resource, std::move(document));
}

api::Client::Written FakeClient::Patch(const api::WriteRequest& request) {
  ObjectPtr current = Find(request.resource, request.object);
  if (current == nullptr) return Missing(request.resource, request.object);
  std::string_view uid = StringAt(request.body, "metadata", "uid");
  if (!uid.empty() && uid != current->header().uid)
    return api::Conflict({.group = "", .resource = request.resource}, request.object.name,
                         "Precondition failed");
  auto apply = [&]() -> api::Result<Json> {
    switch (request.patch) {
      case api::PatchKind::kMerge: return api::ApplyMergePatch(current->Parse(), request.body);
      case api::PatchKind::kJson: return api::ApplyJsonPatch(current->Parse(), request.body);
      case api::PatchKind::kStrategic: break;
    }
    return api::ApplyStrategicMergePatch(current->Parse(), request.body, SchemaOf(request.resource));
  };
  api::Result<Json> patched = apply();
  if (!patched) return patched.status();
  return Put(request.resource, std::move(*patched));
}

// Immediately, unless a finalizer holds the object: there is no kubelet to wait for.
api::Client::Written FakeClient::Delete(const api::WriteRequest& request) {
  ObjectPtr current = Find(request.resource, request.object);
  if (current == nullptr) return Missing(request.resource, request.object);
  std::string_view uid = StringAt(request.body, "preconditions", "uid");
  if (!uid.empty() && uid != current->header().uid)
    return api::Conflict({.group = "", .resource = request.resource}, request.object.name,
                         "Precondition failed");
  Json document = current->Parse();
  if (api::ListAt(document, "metadata", "finalizers").empty()) {
    Remove(request.resource, request.object);
    return current;
  }
  document["metadata"]["deletionTimestamp"] = api::FormatTime(runtime_.Now());
  return Put(request.resource, std::move(document));
}

api::Result<ObjectPtr> FakeClient::Get(std::string_view resource, const ObjectName& name) {
  ++gets;
  if (ObjectPtr found = Find(std::string(resource), name)) return found;
  return Missing(resource, name);
}

api::Result<api::ObjectList> FakeClient::List(std::string_view resource,
                                              const std::optional<std::string>& ns) {
  ++lists;
  if (!list_failures.empty()) {
    api::Status failure = list_failures.front();
    list_failures.pop_front();
    return failure;
  }
  api::ObjectList list;
  list.revision = revision_;
  if (auto objects = resources_.find(resource); objects != resources_.end())
    for (const auto& [name, object] : objects->second)
      if (!ns || name.ns == *ns) list.items.push_back(object);
  return list;
}

api::Result<std::unique_ptr<api::ClientWatch>> FakeClient::Watch(std::string_view resource,
                                                                 std::int64_t from_revision) {
  watches.push_back(from_revision);
  if (!watch_failures.empty()) {
    api::Status failure = watch_failures.front();
    watch_failures.pop_front();
    return failure;
  }
  if (from_revision < compacted_) return api::TooOldResourceVersion(from_revision, compacted_);
  return std::unique_ptr<api::ClientWatch>(
      std::make_unique<FakeWatch>(*this, std::string(resource), from_revision));
}

}  // namespace terrarium::controllers_testing
