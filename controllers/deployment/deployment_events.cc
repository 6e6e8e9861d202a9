#include <optional>
#include <utility>

#include "api/json_access.h"
#include "controllers/deployment/internal/deployments.h"
#include "controllers/deployment/internal/selection.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::deployment {
namespace {

using api::Json;

// After so many failures in a row a Deployment waits for something to change, as in Kubernetes.
constexpr int kRetriesMax = 15;

ObjectName NameOf(const api::Object& object) { return {object.header().ns, object.header().name}; }

// The uid of the controller, if it is a Deployment.
std::vector<std::string> ControllerUid(const api::Object& set) {
  std::optional<OwnerReference> controller = ControllerOf(*set.Document());
  if (!controller || controller->kind != "Deployment") return {};
  return {controller->uid};
}

std::vector<std::string> OrphanPlaces(const api::Object& set) {
  if (ControllerOf(*set.Document())) return {};
  return LabelPlaces(set.header());
}

std::vector<std::string> DeploymentPlace(const api::Object& deployment) {
  auto selector = api::LabelSelector::FromDocument(api::Find(*deployment.Document(), "spec", "selector"));
  if (!selector || selector->selects_everything()) return {};
  return {SelectorPlace(deployment.header().ns, *selector)};
}

}  // namespace

Deployments::Deployments(const ControllerContext& context)
    : context_(context),
      deployments_(context.informers.For("deployments")),
      replica_sets_(context.informers.For("replicasets")),
      pods_(context.informers.For("pods")),
      writes_(context, own_),
      loop_(context.env, context.metrics, LoopOptions{.name = "deployment", .retries_max = kRetriesMax},
            [this](ObjectName name) { return Sync(std::move(name)); }),
      deadlines_(context.env, [this](const ObjectName& name) { loop_.queue().Add(name); }) {}

void Deployments::Watch() {
  deployments_.AddIndex(kBySelector, DeploymentPlace);
  replica_sets_.AddIndex(kByController, ControllerUid);
  replica_sets_.AddIndex(kOrphans, OrphanPlaces);
  WatchDeployments();
  WatchReplicaSets();
  WatchPods();
}

void Deployments::WatchDeployments() {
  std::weak_ptr<Deployments> weak = weak_from_this();
  EventHandler handler;
  handler.added = [weak](const ObjectPtr& deployment) {
    if (auto self = weak.lock()) self->DeploymentSeen(*deployment);
  };
  handler.updated = [weak](const ObjectPtr&, const ObjectPtr& deployment) {
    if (auto self = weak.lock()) self->DeploymentSeen(*deployment);
  };
  handler.deleted = [weak](const ObjectPtr& deployment) {
    if (auto self = weak.lock()) self->DeploymentGone(*deployment);
  };
  deployments_.AddHandler(std::move(handler));
}

void Deployments::WatchReplicaSets() {
  std::weak_ptr<Deployments> weak = weak_from_this();
  EventHandler handler;
  handler.added = [weak](const ObjectPtr& set) {
    if (auto self = weak.lock()) self->ReplicaSetSeen(nullptr, *set);
  };
  handler.updated = [weak](const ObjectPtr& old, const ObjectPtr& set) {
    if (auto self = weak.lock()) self->ReplicaSetSeen(old.get(), *set);
  };
  handler.deleted = [weak](const ObjectPtr& set) {
    if (auto self = weak.lock()) self->ReplicaSetGone(*set);
  };
  replica_sets_.AddHandler(std::move(handler));
}

void Deployments::WatchPods() {
  std::weak_ptr<Deployments> weak = weak_from_this();
  EventHandler handler;
  handler.added = [weak](const ObjectPtr& pod) {
    if (auto self = weak.lock(); self && !self->recreating_.empty()) self->PodEmptied(self->pod_counts_.Put(*pod));
  };
  handler.updated = [weak](const ObjectPtr&, const ObjectPtr& pod) {
    if (auto self = weak.lock(); self && !self->recreating_.empty()) self->PodEmptied(self->pod_counts_.Put(*pod));
  };
  handler.deleted = [weak](const ObjectPtr& pod) {
    if (auto self = weak.lock()) self->PodEmptied(self->pod_counts_.Remove(NameOf(*pod)));
  };
  pods_.AddHandler(std::move(handler));
}

void Deployments::DeploymentSeen(const api::Object& deployment) {
  ObjectName name = NameOf(deployment);
  SetRecreating(name, api::StringAt(*deployment.Document(), "spec", "strategy", "type") == "Recreate");
  loop_.queue().Add(name);
}

void Deployments::DeploymentGone(const api::Object& deployment) {
  ObjectName name = NameOf(deployment);
  SetRecreating(name, false);
  deadlines_.Cancel(name);
  digests_.erase(name);
  own_.Forget(deployment.header().uid);
  terminating_.Forget(deployment);
}

void Deployments::SetRecreating(const ObjectName& deployment, bool recreating) {
  const bool counted = !recreating_.empty();
  if (recreating)
    recreating_.insert(deployment);
  else
    recreating_.erase(deployment);
  const bool count = !recreating_.empty();
  if (counted && !count) pod_counts_.Clear();
  if (counted || !count) return;
  for (const ObjectPtr& pod : pods_.List()) pod_counts_.Put(*pod);
}

void Deployments::ReplicaSetSeen(const api::Object* old, const api::Object& set) {
  std::shared_ptr<const Json> document = set.Document();
  std::optional<OwnerReference> controller = ControllerOf(*document);
  bool changed_hands = old == nullptr;
  if (old != nullptr) {
    std::shared_ptr<const Json> before = old->Document();
    std::optional<OwnerReference> left = ControllerOf(*before);
    changed_hands = (left ? left->uid : "") != (controller ? controller->uid : "");
    if (changed_hands) WakeController(*before, set.header().ns);
  }
  if (controller) return WakeController(*document, set.header().ns);
  // Most changes of an orphan are none that could make somebody want it.
  if (!set.header().deleting && (changed_hands || old->header().labels != set.header().labels)) WakeAdopters(set);
}

void Deployments::ReplicaSetGone(const api::Object& set) {
  facts_.Forget(set.header().uid);
  WakeController(*set.Document(), set.header().ns);
}

ObjectPtr Deployments::ControllerDeployment(const Json& set, const std::string& ns) const {
  std::optional<OwnerReference> controller = ControllerOf(set);
  if (!controller || controller->kind != "Deployment") return nullptr;
  ObjectPtr deployment = deployments_.Get({ns, controller->name});
  return deployment != nullptr && deployment->header().uid == controller->uid ? deployment : nullptr;
}

void Deployments::WakeController(const Json& set, const std::string& ns) {
  if (ObjectPtr deployment = ControllerDeployment(set, ns)) loop_.queue().Add(NameOf(*deployment));
}

void Deployments::WakeAdopters(const api::Object& orphan) {
  for (const std::string& place : LabelPlaces(orphan.header())) {
    for (const ObjectPtr& deployment : deployments_.ByIndex(kBySelector, place)) {
      auto selector = api::LabelSelector::FromDocument(api::Find(*deployment->Document(), "spec", "selector"));
      if (selector && selector->Matches(orphan.header())) loop_.queue().Add(NameOf(*deployment));
    }
  }
}

void Deployments::PodEmptied(const std::optional<PodCounts::Owner>& replica_set) {
  if (!replica_set) return;
  ObjectPtr set = replica_sets_.Get(replica_set->name);
  if (set == nullptr || set->header().uid != replica_set->uid) return;
  ObjectPtr deployment = ControllerDeployment(*set->Document(), set->header().ns);
  if (deployment != nullptr && recreating_.contains(NameOf(*deployment))) loop_.queue().Add(NameOf(*deployment));
}

}  // namespace terrarium::controllers::deployment
