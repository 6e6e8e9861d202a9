#include "controllers/garbage_collector/internal/collector.h"

#include <algorithm>

#include "api/base/errors.h"

namespace terrarium::controllers::garbage_collector {
namespace {

using api::Result;
using api::Task;

constexpr int kWorkers = 20;

Identity IdentityOf(const ServedResource& resource, const api::Object& object) {
  const api::ObjectHeader& header = object.header();
  return {resource.kind, resource.ApiVersion(), header.ns, header.name, header.uid};
}

// Events come in great numbers and own nothing.
bool IsWatched(const ServedResource& resource) { return resource.resource != "events"; }

}  // namespace

Collector::Collector(const ControllerContext& context, std::vector<ServedResource> resources)
    : context_(context),
      resources_(std::move(resources)),
      graph_(*this),
      delete_loop_(context.env, context.metrics,
                   LoopOptions{.name = "garbage_collector_attempt_to_delete", .workers = kWorkers},
                   [this](ObjectName key) { return AttemptToDelete(std::move(key)); }),
      orphan_loop_(context.env, context.metrics,
                   LoopOptions{.name = "garbage_collector_attempt_to_orphan", .workers = kWorkers},
                   [this](ObjectName key) { return AttemptToOrphan(std::move(key)); }) {
  for (const ServedResource& resource : resources_)
    by_kind_.emplace(std::pair(resource.ApiVersion(), resource.kind), &resource);
}

void Collector::Watch() {
  for (const ServedResource& resource : resources_) {
    if (!IsWatched(resource)) continue;
    std::weak_ptr<Collector> weak = weak_from_this();
    EventHandler handler;
    handler.added = [weak, &resource](const ObjectPtr& object) {
      if (auto self = weak.lock()) self->graph_.Observed(IdentityOf(resource, *object), OwnershipOf(*object));
    };
    handler.updated = [weak, &resource](const ObjectPtr& old, const ObjectPtr& object) {
      if (SameOwnership(*old, *object)) return;
      DeletionMarks before = DeletionMarksOf(*old);
      if (auto self = weak.lock())
        self->graph_.Observed(IdentityOf(resource, *object), OwnershipOf(*object), &before);
    };
    handler.deleted = [weak, &resource](const ObjectPtr& object) {
      if (auto self = weak.lock()) self->graph_.Removed(IdentityOf(resource, *object));
    };
    context_.informers.For(resource.resource).AddHandler(std::move(handler));
  }
}

void Collector::Start() {
  delete_loop_.Start();
  orphan_loop_.Start();
}

void Collector::ToDelete(const std::string& uid) { delete_loop_.queue().Add({"", uid}); }
void Collector::ToDeleteLater(const std::string& uid) { delete_loop_.queue().AddRateLimited({"", uid}); }
void Collector::ToOrphan(const std::string& uid) { orphan_loop_.queue().Add({"", uid}); }

void Collector::InvalidNamespace(const Node& dependent, const OwnerReference& owner) {
  const Identity& who = dependent.identity;
  ObjectReference about{.api_version = who.api_version, .kind = who.kind, .ns = who.ns, .name = who.name,
                        .uid = who.uid};
  context_.recorder.Record({"garbage-collector-controller"}, about, kWarning, "OwnerRefInvalidNamespace",
                           "ownerRef " + OwnerIdentity(owner, who.ns).String() + " does not exist in namespace \"" +
                               who.ns + "\"");
}

const ServedResource* Collector::FindResource(const std::string& api_version, const std::string& kind) const {
  auto it = by_kind_.find(std::pair(api_version, kind));
  return it == by_kind_.end() ? nullptr : it->second;
}

// Looks at the object as it is now, since the graph may be behind, and deletes it when nothing owns it any more.
Task<ReconcileResult> Collector::AttemptToDelete(ObjectName key) {
  const Node* node = graph_.Find(key.name);
  if (node == nullptr) co_return Reconciled::Done();
  // Being deleted leads to being gone, and then its dependents get their turn.
  if (node->being_deleted && !node->deleting_dependents) co_return Reconciled::Done();
  Item item{node->identity, FindResource(node->identity.api_version, node->identity.kind)};
  // A kind that nobody serves, or an owner with a namespace that something without one refers to: such an owner can be
  // neither found nor missed. DIVERGES: Kubernetes asks again for ever in the first case, since kinds can be added.
  if (item.resource == nullptr || (item.resource->namespaced && item.identity.ns.empty()))
    co_return Reconciled::Done();
  Result<ObjectPtr> live = context_.client.Get(item.resource->resource, item.Name());
  if (!live && !IsNotFound(live.status())) co_return live.status();
  if (!live || (*live)->header().uid != key.name) {
    graph_.FoundAbsent(item.identity);
    co_return Reconciled::Done();
  }
  Task<ReconcileResult> act = node->deleting_dependents ? FinishForeground(item) : Collect(item, *live);
  ReconcileResult acted = co_await std::move(act);
  if (!acted) co_return acted;
  // Until an informer has shown an owner that exists, nobody would notice its end.
  node = graph_.Find(key.name);
  if (node != nullptr && !node->observed && IsWatched(*item.resource))
    co_return api::Conflict({item.resource->group, item.resource->resource}, item.identity.name,
                            "the object has not been observed yet");
  co_return Reconciled::Done();
}

// An object that is deleted in the foreground goes when the last dependent that blocks it has gone.
Task<ReconcileResult> Collector::FinishForeground(Item item) {
  const Node* node = graph_.Find(item.identity.uid);
  const Dependents& dependents = node->dependents();
  if (dependents.blocking.empty()) {
    ReconcileResult removed = co_await RemoveFinalizer(item, kForegroundFinalizer);
    co_return removed;
  }
  for (auto& [serial, dependent] : dependents.blocking_and_kept) ToDelete(dependent->identity.uid);
  co_return Reconciled::Done();
}

Task<ReconcileResult> Collector::Collect(Item item, ObjectPtr live) {
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
    // In a circle each would wait for the other: this one gives way. Dependents that wait for something else make it
    // give way as well, which does no harm.
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

Result<std::optional<ClassifiedReferences>> Collector::Classify(const Identity& item,
                                                                const std::vector<OwnerReference>& owners) {
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

Result<Collector::OwnerState> Collector::LookUp(const Identity& item, const OwnerReference& reference) {
  AbsentOwners& absent = graph_.absent_owners();
  if (absent.Has(OwnerIdentity(reference, "")) || absent.Has(OwnerIdentity(reference, item.ns)))
    return OwnerState::kDangling;
  const ServedResource* resource = FindResource(reference.api_version, reference.kind);
  if (resource == nullptr || (resource->namespaced && item.ns.empty())) return OwnerState::kUnknowable;
  Item owner{OwnerIdentity(reference, resource->namespaced ? item.ns : ""), resource};
  Result<ObjectPtr> live = context_.client.Get(resource->resource, owner.Name());
  if (!live && !IsNotFound(live.status())) return live.status();
  if (!live || (*live)->header().uid != reference.uid) {
    absent.Add(owner.identity);
    return OwnerState::kDangling;
  }
  DeletionMarks marks = DeletionMarksOf(**live);
  return marks.deleting && marks.foreground ? OwnerState::kWaiting : OwnerState::kSolid;
}

}  // namespace terrarium::controllers::garbage_collector
