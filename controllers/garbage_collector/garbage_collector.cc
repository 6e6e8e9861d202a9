#include "controllers/garbage_collector/garbage_collector.h"

#include <algorithm>

#include "api/base/errors.h"
#include "controllers/garbage_collector/internal/garbage_collector.h"

namespace terrarium::controllers::garbage_collector {
namespace {

using api::Result;
using api::Task;

constexpr int kWorkers = 20;

Identity IdentityOf(const ServedResource& resource, const api::Object& object) {
  const api::ObjectHeader& header = object.header();
  return {resource.kind, resource.ApiVersion(), header.ns, header.name, header.uid};
}

// Events are numerous and own nothing.
bool IsWatched(const ServedResource& resource) { return resource.Name() != "events"; }

}  // namespace

GarbageCollector::GarbageCollector(const ControllerContext& context, ServedResources& resources)
    : context_(context),
      resources_(resources),
      graph_(*this),
      delete_loop_(context.env, context.metrics,
                   LoopOptions{.name = "garbage_collector_attempt_to_delete", .workers = kWorkers},
                   [this](ObjectName key) { return AttemptToDelete(std::move(key)); }),
      orphan_loop_(context.env, context.metrics,
                   LoopOptions{.name = "garbage_collector_attempt_to_orphan", .workers = kWorkers},
                   [this](ObjectName key) { return AttemptToOrphan(std::move(key)); }) {}

void GarbageCollector::Watch() {
  for (const ServedResource& resource : resources_.all()) WatchResource(resource);
  // A removed resource needs no handler: its informer reports its objects as deleted first.
  resources_.AddHandler({.added =
                             [weak = weak_from_this()](const ServedResource& resource) {
                               auto self = weak.lock();
                               if (self == nullptr) return;
                               self->WatchResource(resource);
                               // Owners of this kind could not be looked up before it was served.
                               for (const std::string& uid : self->graph_.Concerning(
                                        [&](const std::string&api_version, const std::string&kind) {
                                          return resource.Is(api_version, kind);
                                        }))
                                 self->ToDelete(uid);
                             },
                         .removed = nullptr});
}

void GarbageCollector::WatchResource(const ServedResource& served) {
  if (!IsWatched(served)) return;
  std::weak_ptr<GarbageCollector> weak = weak_from_this();
  auto resource = std::make_shared<const ServedResource>(served);
  EventHandler handler;
  handler.added = [weak, resource](const ObjectPtr& object) {
    if (auto self = weak.lock()) self->graph_.Observed(IdentityOf(*resource, *object), OwnershipOf(*object));
  };
  handler.updated = [weak, resource](const ObjectPtr& old, const ObjectPtr& object) {
    if (SameOwnership(*old, *object)) return;
    DeletionMarks before = DeletionMarksOf(*old);
    if (auto self = weak.lock())
      self->graph_.Observed(IdentityOf(*resource, *object), OwnershipOf(*object), &before);
  };
  handler.deleted = [weak, resource](const ObjectPtr& object) {
    if (auto self = weak.lock()) self->graph_.Removed(IdentityOf(*resource, *object));
  };
  context_.informers.For(served.Name()).AddHandler(std::move(handler));
}

void GarbageCollector::Start() {
  delete_loop_.Start();
  orphan_loop_.Start();
}

void GarbageCollector::ToDelete(const std::string& uid) { delete_loop_.queue().Add({"", uid}); }
void GarbageCollector::ToDeleteLater(const std::string& uid) {
  delete_loop_.queue().AddRateLimited({"", uid});
}
void GarbageCollector::ToOrphan(const std::string& uid) { orphan_loop_.queue().Add({"", uid}); }

void GarbageCollector::InvalidNamespace(const Node& dependent, const OwnerReference& owner) {
  const Identity& who = dependent.identity;
  ObjectReference about{
      .api_version = who.api_version, .kind = who.kind, .ns = who.ns, .name = who.name, .uid = who.uid};
  context_.recorder.Record({"garbage-collector-controller"}, about, kWarning, "OwnerRefInvalidNamespace",
                           "ownerRef " + OwnerIdentity(owner, who.ns).String() +
                               " does not exist in namespace \"" + who.ns + "\"");
}

std::optional<ServedResource> GarbageCollector::FindResource(const std::string& api_version,
                                                             const std::string& kind) const {
  const ServedResource* found = resources_.Find(api_version, kind);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

// Reads the live object, since the graph may be stale, and deletes it when it has no owner left.
Task<ReconcileResult> GarbageCollector::AttemptToDelete(ObjectName key) {
  const Node* node = graph_.Find(key.name);
  if (node == nullptr) co_return Reconciled::Done();
  // When the deletion completes, the object's removal enqueues its dependents.
  if (node->being_deleted && !node->deleting_dependents) co_return Reconciled::Done();
  Item item{node->identity, FindResource(node->identity.api_version, node->identity.kind)};
  // The kind is not served, or a cluster-scoped object refers to a namespaced owner: the collector cannot
  // decide whether such an owner exists. DIVERGES: Kubernetes retries indefinitely in the first case; here
  // the object is enqueued again when the kind is served.
  if (!item.resource || (item.resource->namespaced && item.identity.ns.empty())) co_return Reconciled::Done();
  Result<ObjectPtr> live = context_.client.Get(item.resource->Name(), item.Name());
  if (!live && !IsNotFound(live.status())) co_return live.status();
  if (!live || (*live)->header().uid != key.name) {
    graph_.FoundAbsent(item.identity);
    co_return Reconciled::Done();
  }
  Task<ReconcileResult> act = node->deleting_dependents ? FinishForeground(item) : Collect(item, *live);
  ReconcileResult acted = co_await std::move(act);
  if (!acted) co_return acted;
  // The graph learns of an owner's deletion only after an informer has observed the owner.
  node = graph_.Find(key.name);
  if (node != nullptr && !node->observed && IsWatched(*item.resource))
    co_return api::Conflict({item.resource->group, item.resource->resource}, item.identity.name,
                            "the object has not been observed yet");
  co_return Reconciled::Done();
}

// An object deleted in the foreground loses its finalizer when it has no blocking dependent left.
Task<ReconcileResult> GarbageCollector::FinishForeground(Item item) {
  const Node* node = graph_.Find(item.identity.uid);
  const Dependents& dependents = node->dependents();
  if (dependents.blocking.empty()) {
    ReconcileResult removed = co_await RemoveFinalizer(item, kForegroundFinalizer);
    co_return removed;
  }
  for (auto& [serial, dependent] : dependents.blocking_and_kept) ToDelete(dependent->identity.uid);
  co_return Reconciled::Done();
}

Task<ReconcileResult> GarbageCollector::Collect(Item item, ObjectPtr live) {
  Ownership latest = OwnershipOf(*live);
  if (latest.owners.empty()) co_return Reconciled::Done();
  Result<std::optional<ClassifiedReferences>> references = Classify(item.identity, latest.owners);
  if (!references) co_return references.status();
  if (!*references) co_return Reconciled::Done();
  const NodesBySerial& dependents = graph_.Find(item.identity.uid)->dependents().all;
  Verdict verdict = Judge(**references, !dependents.empty());
  if (verdict == Verdict::kKeep) co_return Reconciled::Done();
  if (verdict == Verdict::kDropReferences) {
    ReconcileResult dropped = co_await DropReferences(item, **references);
    co_return dropped;
  }
  std::string_view policy = PropagationOf(latest.marks);
  if (verdict == Verdict::kDeleteInForeground) {
    policy = "Foreground";
    // In a cycle of owners each object would wait for another one, so this object stops blocking its owners.
    // It also does so when its dependents wait for something else, which is harmless.
    bool circle = std::any_of(dependents.begin(), dependents.end(),
                              [](const auto& entry) { return entry.second->deleting_dependents; });
    if (circle) {
      api::Client::Written unblocked = co_await UnblockOwners(item, latest.owners);
      if (!unblocked) co_return unblocked.status();
      live = *unblocked;
    }
  }
  ReconcileResult deleted = co_await Delete(item, live, policy);
  co_return deleted;
}

Result<std::optional<ClassifiedReferences>> GarbageCollector::Classify(
    const Identity& item, const std::vector<OwnerReference>& owners) {
  ClassifiedReferences classified;
  for (const OwnerReference& reference : owners) {
    Result<OwnerState> state = LookUp(item, reference);
    if (!state) return state.status();
    switch (*state) {
      case OwnerState::kSolid: classified.solid.push_back(reference); break;
      case OwnerState::kDangling: classified.dangling.push_back(reference); break;
      case OwnerState::kWaiting: classified.waiting.push_back(reference); break;
      case OwnerState::kUnknowable: return std::optional<ClassifiedReferences>();
    }
  }
  return std::optional(std::move(classified));
}

Result<GarbageCollector::OwnerState> GarbageCollector::LookUp(const Identity& item,
                                                              const OwnerReference& reference) {
  AbsentOwners& absent = graph_.absent_owners();
  if (absent.Has(OwnerIdentity(reference, "")) || absent.Has(OwnerIdentity(reference, item.ns)))
    return OwnerState::kDangling;
  const std::optional<ServedResource> resource = FindResource(reference.api_version, reference.kind);
  if (!resource || (resource->namespaced && item.ns.empty())) return OwnerState::kUnknowable;
  Item owner{OwnerIdentity(reference, resource->namespaced ? item.ns : ""), resource};
  Result<ObjectPtr> live = context_.client.Get(resource->Name(), owner.Name());
  if (!live && !IsNotFound(live.status())) return live.status();
  if (!live || (*live)->header().uid != reference.uid) {
    absent.Add(owner.identity);
    return OwnerState::kDangling;
  }
  DeletionMarks marks = DeletionMarksOf(**live);
  return marks.deleting && marks.foreground ? OwnerState::kWaiting : OwnerState::kSolid;
}

}  // namespace terrarium::controllers::garbage_collector

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeGarbageCollector(const ControllerContext& context,
                                                 ServedResources& resources) {
  return std::make_unique<SharedController<garbage_collector::GarbageCollector>>(context, resources);
}

}  // namespace terrarium::controllers
