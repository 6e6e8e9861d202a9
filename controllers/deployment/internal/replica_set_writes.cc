#include "controllers/deployment/internal/replica_set_writes.h"

#include <optional>
#include <utility>

#include "api/json_access.h"
#include "api/write_request.h"
#include "controllers/deployment/internal/annotations.h"
#include "controllers/runtime/send_all.h"

namespace terrarium::controllers::deployment {
namespace {

using api::Client;
using api::Json;
using api::Task;

constexpr const char* kResource = "replicasets";

// The patch that makes a set what it should be; null when it is. The uid keeps it from another set of that
// name.
Json ResizePatch(const ReplicaSetFacts& set, const ScaledSet& wanted) {
  std::shared_ptr<const Json> document = set.object->Document();
  Json annotations = ReplicasChanges(api::ObjectAt(*document, "metadata", "annotations"), wanted);
  const bool resized = set.size.replicas != wanted.replicas;
  if (!resized && annotations.empty()) return nullptr;
  Json patch = {{"metadata", {{"uid", set.uid()}}}};
  if (!annotations.empty()) patch["metadata"]["annotations"] = std::move(annotations);
  if (resized) patch["spec"]["replicas"] = wanted.replicas;
  return patch;
}

}  // namespace

Task<api::Result<Change>> ReplicaSetWrites::Resize(SyncStatePtr sync, std::vector<ScaledSet> wanted,
                                                   std::string rule) {
  std::vector<api::WriteRequest> requests;
  std::vector<ScaledSet> sent;
  for (const ScaledSet& scaled : wanted) {
    const ReplicaSetFacts& set = *sync->sets[scaled.index];
    Json patch = ResizePatch(set, scaled);
    if (patch.is_null()) continue;
    requests.push_back(api::RequestToPatch(kResource, {sync->name.ns, set.name()}, std::move(patch), "",
                                           api::PatchKind::kMerge));
    sent.push_back(scaled);
  }
  if (sent.empty()) co_return Change::kUnchanged;

  auto saw = std::make_shared<const Json>(sync->Saw());
  // In order, and none after a failed write: the first ReplicaSet gets the leftover of a proportional scale,
  // so the next sync computes the same sizes only if the ReplicaSets before a missing one have been written.
  for (std::size_t i = 0; i < sent.size(); ++i) {
    api::Awaitable<Client::Written> sending = context_.client.Sent(std::move(requests[i]));
    Client::Written written = co_await std::move(sending);
    if (!written) co_return written.status();
    own_.ReplicaSetWritten(sync->uid(), (*written)->revision());
    const ReplicaSetSize& before = sync->sizes[sent[i].index];
    if (before.replicas == sent[i].replicas) continue;
    Explain(*sync, {"scale", before.name, rule}, saw);
    RecordScaledEvent(*sync, before, sent[i].replicas);
  }
  co_return Change::kChanged;
}

Task<api::Result<void>> ReplicaSetWrites::PatchNew(SyncStatePtr sync, Json patch) {
  const ReplicaSetFacts& set = *sync->new_set();
  patch["metadata"]["uid"] = set.uid();
  api::ObjectName name{sync->name.ns, set.name()};
  api::Awaitable<Client::Written> patching =
      context_.client.Patch(kResource, std::move(name), std::move(patch), "", api::PatchKind::kMerge);
  Client::Written written = co_await std::move(patching);
  if (!written) co_return written.status();
  own_.ReplicaSetWritten(sync->uid(), (*written)->revision());
  co_return api::Result<void>();
}

Task<api::Result<Change>> ReplicaSetWrites::HandPicker(SyncStatePtr sync) {
  std::vector<api::WriteRequest> requests;
  std::vector<FactsPtr> sets;
  for (const FactsPtr& set : sync->sets) {
    if (drops_pickers_ && set->picker.is_null()) continue;
    Json patch = PickerPatch(*sync, *set);
    if (patch.is_null()) continue;
    api::ObjectName name{sync->name.ns, set->name()};
    requests.push_back(
        api::RequestToPatch(kResource, std::move(name), std::move(patch), "", api::PatchKind::kMerge));
    sets.push_back(set);
  }
  if (sets.empty()) co_return Change::kUnchanged;
  api::Awaitable<std::vector<Client::Written>> sending = SendAll(context_.client, std::move(requests));
  std::vector<Client::Written> answers = co_await std::move(sending);
  Change change = Change::kUnchanged;
  std::optional<api::Status> failed;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (!answers[i]) {
      if (!failed) failed = answers[i].status();
      continue;
    }
    own_.ReplicaSetWritten(sync->uid(), (*answers[i])->revision());
    // An unchanged ReplicaSet comes back in no event.
    const bool taken = (*answers[i])->revision() != sets[i]->object->revision();
    if (taken) change = Change::kChanged;
    drops_pickers_ |= !taken;
  }
  if (failed) co_return std::move(*failed);
  co_return change;
}

Task<Client::Written> ReplicaSetWrites::Create(SyncStatePtr sync, Json replica_set) {
  ReplicaSetSize created;
  created.name = api::StringAt(replica_set, "metadata", "name");
  const std::int64_t replicas = api::IntAt(replica_set, 0, "spec", "replicas");
  const bool has_picker = api::Find(replica_set, "spec", "downscalePodPicker") != nullptr;
  std::string rule = "no ReplicaSet has the current template; " + sync->RoomText();
  auto saw = std::make_shared<const Json>(sync->Saw());
  api::Awaitable<Client::Written> creating =
      context_.client.Create(kResource, sync->name.ns, std::move(replica_set));
  Client::Written written = co_await std::move(creating);
  if (!written) co_return written;
  own_.ReplicaSetWritten(sync->uid(), (*written)->revision());
  if (has_picker && api::Find(*(*written)->Document(), "spec", "downscalePodPicker") == nullptr)
    drops_pickers_ = true;
  Explain(*sync, {"create", created.name, std::move(rule)}, saw);
  if (replicas > 0) RecordScaledEvent(*sync, created, replicas);
  co_return written;
}

Task<api::Result<void>> ReplicaSetWrites::Delete(SyncStatePtr sync, std::vector<FactsPtr> sets,
                                                 std::string rule) {
  std::vector<api::WriteRequest> requests;
  for (const FactsPtr& set : sets) {
    api::DeleteRequest options{.uid = set->uid()};
    requests.push_back(api::RequestToDelete(kResource, {sync->name.ns, set->name()}, options));
  }
  auto saw = std::make_shared<const Json>(sync->Saw());
  api::Awaitable<std::vector<Client::Written>> sending = SendAll(context_.client, std::move(requests));
  std::vector<Client::Written> answers = co_await std::move(sending);
  std::optional<api::Status> failed;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (answers[i].ok())
      Explain(*sync, {"delete", sets[i]->name(), rule}, saw);
    else if (!answers[i].status().Is(api::reason::kNotFound) && !failed)
      failed = answers[i].status();
  }
  if (failed) co_return std::move(*failed);
  co_return api::Result<void>();
}

void ReplicaSetWrites::RecordEvent(const SyncState& sync, std::string_view type, std::string_view reason,
                                   std::string message) {
  static const EventRecorder::Source kSource{kController};
  context_.recorder.Record(kSource, ReferenceTo(*sync.deployment, "apps/v1", "Deployment"), type, reason,
                           std::move(message));
}

void ReplicaSetWrites::RecordScaledEvent(const SyncState& sync, const ReplicaSetSize& before,
                                         std::int64_t replicas) {
  std::string message = "Scaled ";
  message.append(before.replicas < replicas ? "up" : "down").append(" replica set ").append(before.name);
  message += " from " + std::to_string(before.replicas) + " to " + std::to_string(replicas);
  RecordEvent(sync, kNormal, "ScalingReplicaSet", std::move(message));
}

void ReplicaSetWrites::Explain(const SyncState& sync, Action action, std::shared_ptr<const Json> saw) {
  context_.why.Record({.time = context_.env.clock.Now(),
                       .revision = sync.seen,
                       .controller = kController,
                       .action = std::move(action.name),
                       .resource = kResource,
                       .object = {sync.name.ns, std::move(action.replica_set)},
                       .owner_resource = "deployments",
                       .owner = sync.name,
                       .rule = std::move(action.rule),
                       .saw = std::move(saw)});
}

}  // namespace terrarium::controllers::deployment
