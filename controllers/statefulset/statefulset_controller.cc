#include "controllers/statefulset/statefulset_controller.h"

#include <utility>

#include "controllers/runtime/owner_references.h"
#include "controllers/statefulset/internal/identity.h"
#include "controllers/statefulset/internal/statefulset_controller.h"

namespace terrarium::controllers::statefulset {
namespace {

constexpr const char* kOrphansIndex = "pods without a controller, for StatefulSets";

bool IsOfSet(const OwnerReference* controller) {
  return controller != nullptr && controller->kind == "StatefulSet" && controller->api_version == "apps/v1";
}

}  // namespace

StatefulSetController::StatefulSetController(const ControllerContext& context)
    : context_(context),
      sets_(context.informers.For("statefulsets")),
      pods_(context.informers.For("pods")),
      history_(context, "statefulsets", "StatefulSet"),
      reporter_(context),
      claims_(context, reporter_),
      metrics_(context.metrics),
      available_(context.env, [this](const ObjectName& name) { loop_.queue().Add(name); }),
      stale_(context.env, [this](const ObjectName& name) { loop_.queue().Add(name); }),
      loop_(context.env, context.metrics, LoopOptions{.name = "statefulset"},
            [this](ObjectName name) { return Sync(std::move(name)); }) {}

void StatefulSetController::Watch() {
  std::weak_ptr<StatefulSetController> weak = weak_from_this();
  EventHandler sets;
  sets.added = [weak](const ObjectPtr& set) {
    if (auto self = weak.lock()) self->SetSeen(set, true);
  };
  sets.updated = [weak](const ObjectPtr&, const ObjectPtr& set) {
    if (auto self = weak.lock()) self->SetSeen(set, false);
  };
  sets.deleted = [weak](const ObjectPtr& set) {
    if (auto self = weak.lock()) self->SetGone(*set);
  };
  sets_.AddHandler(std::move(sets));
  EventHandler pods;
  pods.added = [weak](const ObjectPtr& pod) {
    if (auto self = weak.lock()) self->PodSeen(nullptr, pod);
  };
  pods.updated = [weak](const ObjectPtr& old, const ObjectPtr& pod) {
    if (auto self = weak.lock()) self->PodSeen(old.get(), pod);
  };
  pods.deleted = [weak](const ObjectPtr& pod) {
    if (auto self = weak.lock()) self->PodGone(*pod);
  };
  pods_.AddIndex(kOrphansIndex, [](const api::Object& pod) -> std::vector<std::string> {
    if (pod.controller() != nullptr) return {};
    return {pod.name().ns};
  });
  pods_.AddHandler(std::move(pods));
  EventHandler revisions;
  revisions.added = [weak](const ObjectPtr& revision) {
    if (auto self = weak.lock()) self->RevisionSeen(*revision);
  };
  revisions.updated = [weak](const ObjectPtr&, const ObjectPtr& revision) {
    if (auto self = weak.lock()) self->RevisionSeen(*revision);
  };
  history_.informer().AddHandler(std::move(revisions));
}

void StatefulSetController::Enqueue(const SetState& state) {
  if (state.set != nullptr) loop_.queue().Add(state.name);
}

void StatefulSetController::SetSeen(const ObjectPtr& set, bool is_new) {
  SetStatePtr state = states_.SetSet(set);
  if (is_new) {
    selectors_.Set(state->name, state->selector);
    for (const ObjectPtr& orphan : pods_.ByIndex(kOrphansIndex, state->name.ns))
      if (state->selector.Matches(orphan->header())) state->adoptable.insert(orphan->header().name);
  }
  Enqueue(*state);
}

void StatefulSetController::SetGone(const api::Object& set) {
  states_.RemoveSet(set);
  selectors_.Remove(set.name());
  available_.Cancel(set.name());
  stale_.Cancel(set.name());
}

void StatefulSetController::PodSeen(const api::Object* old, const ObjectPtr& pod) {
  const ObjectName& name = pod->name();
  const OwnerReference* controller = pod->controller();
  SetStatePtr before = states_.OwnerOf(name);
  if (before != nullptr && !(IsOfSet(controller) && controller->uid == before->uid)) RemovePod(before, name);
  if (controller == nullptr) return OrphanSeen(old, *pod);
  if (!IsOfSet(controller)) return;
  auto seen = std::make_shared<StatefulPod>(StatefulPod{FactsOf(*pod), pod});
  StatefulPodPtr known;
  if (before != nullptr)
    if (auto entry = before->pods.find(name.name); entry != before->pods.end()) known = entry->second;
  const bool changed = known == nullptr || !(known->facts == seen->facts) ||
                       known->object->header().labels != pod->header().labels;
  SetStatePtr state = states_.PutPod(controller->uid, {name.ns, controller->name}, std::move(seen));
  // Most updates of a pod's status decide nothing.
  if (changed || state->awaits_view) Enqueue(*state);
}

void StatefulSetController::OrphanSeen(const api::Object* old, const api::Object& pod) {
  const bool news =
      old == nullptr || old->controller() != nullptr || old->header().labels != pod.header().labels;
  if (!news || pod.header().deleting) return;
  for (const ObjectName& name : selectors_.Matching(pod.header())) {
    ObjectPtr set = sets_.Get(name);
    SetStatePtr state = set == nullptr ? nullptr : states_.Find(set->header().uid);
    if (state == nullptr || !IsMember(name.name, pod.header().name)) continue;
    state->adoptable.insert(pod.header().name);
    Enqueue(*state);
  }
}

void StatefulSetController::PodGone(const api::Object& pod) {
  if (SetStatePtr state = states_.OwnerOf(pod.name())) RemovePod(state, pod.name());
}

void StatefulSetController::RemovePod(const SetStatePtr& state, const ObjectName& pod) {
  states_.RemovePod(pod);
  Enqueue(*state);
}

// Revisions are written by this controller: only a sync that waits for its own write is of interest.
void StatefulSetController::RevisionSeen(const api::Object& revision) {
  const OwnerReference* controller = revision.controller();
  if (!IsOfSet(controller)) return;
  SetStatePtr state = states_.Find(controller->uid);
  if (state != nullptr && state->awaits_view) Enqueue(*state);
}

bool StatefulSetController::SeesOwnWrites(SetState& state, const api::Object& set) const {
  const bool sees_writes = set.revision() >= state.set_written && pods_.Revision() >= state.pods_written &&
                           history_.informer().Revision() >= state.revisions_written;
  if (!sees_writes) return false;
  std::erase_if(state.deletions, [&](const auto& deletion) {
    ObjectPtr pod = pods_.Get({state.name.ns, deletion.second});
    return pod == nullptr || pod->header().uid != deletion.first || pod->header().deleting;
  });
  return state.deletions.empty();
}

}  // namespace terrarium::controllers::statefulset

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeStatefulSetController(const ControllerContext& context) {
  return std::make_unique<SharedController<statefulset::StatefulSetController>>(context);
}

}  // namespace terrarium::controllers
