// The collector's writes: each carries what the decision was made on as a precondition.

#include <algorithm>
#include <utility>

#include "api/json.h"
#include "controllers/garbage_collector/internal/garbage_collector.h"
#include "controllers/runtime/send_all.h"

namespace terrarium::controllers::garbage_collector {
namespace {

using api::Json;
using api::Result;
using api::Task;

bool IsConflict(const api::Status& status) { return status.Is(api::reason::kConflict); }

// An object that is gone needs no change any more.
ReconcileResult DoneUnlessFailed(const api::Client::Written& written) {
  if (!written && !IsNotFound(written.status())) return written.status();
  return Reconciled::Done();
}

Json PatchOfOwners(const std::string& uid, Json owners) {
  return {{"metadata", {{"uid", uid}, {"ownerReferences", std::move(owners)}}}};
}

Json RemovedOwner(const std::string& uid) { return {{"$patch", "delete"}, {"uid", uid}}; }

}  // namespace

Task<ReconcileResult> GarbageCollector::Delete(Item item, ObjectPtr live, std::string_view policy) {
  api::DeleteRequest request;
  request.uid = item.identity.uid;
  request.resource_version = std::to_string(live->revision());
  request.propagation_policy = policy;
  api::ObjectName name = item.Name();
  api::Client::Written deleted = co_await context_.client.Delete(item.resource->Name(), name, request);
  if (!deleted && IsConflict(deleted.status())) {
    Result<ObjectPtr> again = context_.client.Get(item.resource->Name(), name);
    bool same = again && (*again)->header().uid == item.identity.uid &&
                SameReferences(OwnershipOf(**again).owners, OwnershipOf(*live).owners);
    if (!again) {
      deleted = again.status();
    } else if (same && (*again)->revision() != live->revision()) {
      // Something else has changed, perhaps not for the last time: the owners are what counts.
      request.resource_version.clear();
      deleted = co_await context_.client.Delete(item.resource->Name(), name, request);
    }
  }
  if (deleted) {
    graph_.DeleteAccepted(item.identity.uid);
    co_return Reconciled::Done();
  }
  if (!IsNotFound(deleted.status())) co_return deleted.status();
  graph_.FoundAbsent(item.identity);
  co_return Reconciled::Done();
}

Task<ReconcileResult> GarbageCollector::DropReferences(Item item, ClassifiedReferences references) {
  Json owners = Json::array();
  for (const OwnerReference& reference : references.dangling) owners.push_back(RemovedOwner(reference.uid));
  for (const OwnerReference& reference : references.waiting) owners.push_back(RemovedOwner(reference.uid));
  Json patch = PatchOfOwners(item.identity.uid, std::move(owners));
  api::ObjectName name = item.Name();
  api::Client::Written written =
      co_await context_.client.Patch(item.resource->Name(), name, std::move(patch));
  co_return DoneUnlessFailed(written);
}

Task<api::Client::Written> GarbageCollector::UnblockOwners(Item item, std::vector<OwnerReference> owners) {
  Json unblocked = Json::array();
  for (const OwnerReference& reference : owners)
    if (reference.block_owner_deletion)
      unblocked.push_back({{"uid", reference.uid}, {"blockOwnerDeletion", false}});
  Json patch = PatchOfOwners(item.identity.uid, std::move(unblocked));
  api::ObjectName name = item.Name();
  api::Client::Written written =
      co_await context_.client.Patch(item.resource->Name(), name, std::move(patch));
  co_return written;
}

Task<ReconcileResult> GarbageCollector::RemoveFinalizer(Item item, std::string_view finalizer) {
  api::ObjectName name = item.Name();
  Result<ObjectPtr> live = context_.client.Get(item.resource->Name(), name);
  if (!live) co_return DoneUnlessFailed(live);
  if ((*live)->header().uid != item.identity.uid) co_return Reconciled::Done();
  std::vector<std::string> finalizers = api::FinalizersOf(**live);
  auto gone = std::remove(finalizers.begin(), finalizers.end(), finalizer);
  if (gone == finalizers.end()) co_return Reconciled::Done();
  finalizers.erase(gone, finalizers.end());
  Json patch = {
      {"metadata", {{"resourceVersion", std::to_string((*live)->revision())}, {"finalizers", nullptr}}}};
  if (!finalizers.empty()) patch["metadata"]["finalizers"] = finalizers;
  api::Client::Written written = co_await context_.client.Patch(item.resource->Name(), name, std::move(patch),
                                                                "", api::PatchKind::kMerge);
  co_return DoneUnlessFailed(written);
}

Task<ReconcileResult> GarbageCollector::AttemptToOrphan(ObjectName key) {
  const Node* node = graph_.Find(key.name);
  if (node == nullptr) co_return Reconciled::Done();
  Item owner{node->identity, FindResource(node->identity.api_version, node->identity.kind)};
  if (!owner.resource) co_return Reconciled::Done();
  std::vector<api::WriteRequest> requests;
  for (auto& [serial, dependent] : node->dependents().all) {
    Item item{dependent->identity, FindResource(dependent->identity.api_version, dependent->identity.kind)};
    if (!item.resource) continue;
    api::WriteRequest request;
    request.verb = api::WriteRequest::Verb::kPatch;
    request.resource = item.resource->Name();
    request.object = item.Name();
    request.body = PatchOfOwners(item.identity.uid, Json::array({RemovedOwner(key.name)}));
    requests.push_back(std::move(request));
  }
  std::vector<api::Client::Written> answers = co_await SendAll(context_.client, std::move(requests));
  for (const api::Client::Written& answer : answers)
    if (!answer && !IsNotFound(answer.status())) co_return answer.status();
  ReconcileResult removed = co_await RemoveFinalizer(owner, kOrphanFinalizer);
  co_return removed;
}

}  // namespace terrarium::controllers::garbage_collector
