// What events do to the index and to the queue.

#include <utility>

#include "api/json_access.h"
#include "controllers/daemonset/internal/daemonset_controller.h"

namespace terrarium::controllers::daemonset {
namespace {

using api::Json;

constexpr const char* kOrphans = "pods without a controller, for DaemonSets";

api::LabelSelector SelectorOf(const Json& daemon_set) {
  api::Result<api::LabelSelector> parsed =
      api::LabelSelector::FromDocument(api::Find(daemon_set, "spec", "selector"));
  // Validation rejects a selector that selects everything; it must not adopt the whole namespace.
  return parsed && !parsed->selects_everything() ? *parsed : api::LabelSelector::Nothing();
}

}  // namespace

void DaemonSetController::Watch() {
  std::weak_ptr<DaemonSetController> weak = weak_from_this();
  EventHandler owners;
  owners.added = [weak](const ObjectPtr& owner) {
    if (auto self = weak.lock()) self->OwnerSeen(*owner);
  };
  owners.updated = [weak](const ObjectPtr&, const ObjectPtr& owner) {
    if (auto self = weak.lock()) self->OwnerSeen(*owner);
  };
  owners.deleted = [weak](const ObjectPtr& owner) {
    if (auto self = weak.lock()) self->OwnerGone(*owner);
  };
  daemon_sets_.AddHandler(std::move(owners));

  EventHandler revisions;
  revisions.added = [weak](const ObjectPtr& revision) {
    if (auto self = weak.lock()) self->RevisionSeen(nullptr, *revision);
  };
  revisions.updated = [weak](const ObjectPtr& old, const ObjectPtr& revision) {
    if (auto self = weak.lock()) self->RevisionSeen(old.get(), *revision);
  };
  revisions.deleted = [weak](const ObjectPtr& revision) {
    if (auto self = weak.lock()) self->EnqueueController(*revision);
  };
  history_.informer().AddHandler(std::move(revisions));

  EventHandler nodes;
  nodes.added = [weak](const ObjectPtr& node) {
    if (auto self = weak.lock()) self->NodeSeen(node);
  };
  nodes.updated = [weak](const ObjectPtr&, const ObjectPtr& node) {
    if (auto self = weak.lock()) self->NodeSeen(node);
  };
  nodes.deleted = [weak](const ObjectPtr& node) {
    if (auto self = weak.lock()) self->index_.RemoveNode(node->header().name);
  };
  nodes_.AddHandler(std::move(nodes));

  EventHandler pods;
  pods.added = [weak](const ObjectPtr& pod) {
    if (auto self = weak.lock()) self->PodSeen(pod, true);
  };
  pods.updated = [weak](const ObjectPtr&, const ObjectPtr& pod) {
    if (auto self = weak.lock()) self->PodSeen(pod, false);
  };
  pods.deleted = [weak](const ObjectPtr& pod) {
    if (auto self = weak.lock()) self->PodGone(*pod);
  };
  pods_.AddIndex(kOrphans, [](const api::Object& pod) -> std::vector<std::string> {
    if (pod.controller() != nullptr) return {};
    return {pod.name().ns};
  });
  pods_.AddHandler(std::move(pods));
}

void DaemonSetController::OwnerSeen(const api::Object& owner) {
  const ObjectName name = owner.name();
  std::shared_ptr<const Json> document = owner.Document();
  const std::int64_t generation = api::IntAt(*document, 0, "metadata", "generation");
  if (!index_.HasRules(name, owner.header().uid, generation)) {
    index_.SetOwner(name, {.uid = owner.header().uid,
                           .generation = generation,
                           .selector = SelectorOf(*document),
                           .placement = Placement(api::ObjectAt(*document, "spec", "template"))});
    DaemonIndex::Owner& known = *index_.Find(name);
    for (const ObjectPtr& orphan : pods_.ByIndex(kOrphans, name.ns))
      if (!orphan->header().deleting && known.rules.selector.Matches(orphan->header()))
        known.adoptable.insert(orphan->header().name);
  }
  index_.Find(name)->reported_misscheduled = api::IntAt(*document, 0, "status", "numberMisscheduled");
  loop_.queue().Add(name);
}

void DaemonSetController::OwnerGone(const api::Object& owner) {
  const ObjectName name = owner.name();
  index_.RemoveOwner(name);
  // A new DaemonSet of the same name starts with a clean state.
  expectations_.Forget(name);
  failed_pods_.Forget(owner.header().uid);
  known_histories_.erase(name);
  written_.erase(name);
  changes_.Cancel(name);
}

// A terminating pod counts as deleted for the expectations.
void DaemonSetController::PodSeen(const ObjectPtr& pod, bool is_new) {
  for (const DaemonIndex::Effect& effect : index_.PutPod(pod)) {
    using Relation = DaemonIndex::Effect::Relation;
    if (effect.relation == Relation::kControlledBefore || pod->header().deleting)
      expectations_.DeletionObserved(effect.owner, pod->header().uid);
    else if (is_new && effect.relation == Relation::kControls)
      expectations_.CreationObserved(effect.owner);
    loop_.queue().Add(effect.owner);
  }
}

void DaemonSetController::PodGone(const api::Object& pod) {
  for (const DaemonIndex::Effect& effect : index_.RemovePod(pod)) {
    expectations_.DeletionObserved(effect.owner, pod.header().uid);
    loop_.queue().Add(effect.owner);
  }
}

void DaemonSetController::NodeSeen(const ObjectPtr& node) {
  for (const ObjectName& owner : index_.PutNode(node)) loop_.queue().Add(owner);
}

void DaemonSetController::RevisionSeen(const api::Object* old, const api::Object& revision) {
  const api::OwnerReference* controller = revision.controller();
  const bool controller_changed = old != nullptr && (old->controller() == nullptr || controller == nullptr
                                                         ? old->controller() != controller
                                                         : *old->controller() != *controller);
  if (controller_changed) EnqueueController(*old);
  if (controller != nullptr) {
    // The creation of a revision is this controller's own.
    if (old != nullptr || revision.header().deleting) EnqueueController(revision);
    return;
  }
  if (revision.header().deleting) return;
  if (old != nullptr && !controller_changed && old->header().labels == revision.header().labels) return;
  for (const ObjectName& owner : index_.Matching(revision.header())) loop_.queue().Add(owner);
}

void DaemonSetController::EnqueueController(const api::Object& revision) {
  const api::OwnerReference* controller = revision.controller();
  if (controller == nullptr || controller->kind != "DaemonSet") return;
  const ObjectName name{revision.header().ns, controller->name};
  const DaemonIndex::Owner* owner = index_.Find(name);
  if (owner != nullptr && owner->rules.uid == controller->uid) loop_.queue().Add(name);
}

}  // namespace terrarium::controllers::daemonset
