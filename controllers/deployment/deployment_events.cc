// What the events of Deployments, ReplicaSets and pods enqueue.

#include <optional>
#include <utility>

#include "api/json_access.h"
#include "controllers/deployment/internal/deployment_controller.h"
#include "controllers/deployment/internal/selection.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::deployment {

void DeploymentController::DeploymentSeen(const api::Object& deployment) {
  ObjectName name = deployment.name();
  const bool recreates = api::StringAt(*deployment.Document(), "spec", "strategy", "type") == "Recreate";
  SetPodWatch(name, &PodWatch::recreates, recreates);
  loop_.queue().Add(name);
}

void DeploymentController::DeploymentGone(const api::Object& deployment) {
  ObjectName name = deployment.name();
  SetPodWatch(name, &PodWatch::recreates, false);
  SetPodWatch(name, &PodWatch::waits, false);
  deadlines_.Cancel(name);
  digests_.erase(name);
  own_.Forget(deployment.header().uid);
  terminating_.Forget(deployment);
}

void DeploymentController::SetPodWatch(const ObjectName& deployment, bool PodWatch::*reason, bool applies) {
  const bool counted = !pod_watches_.empty();
  auto watch = pod_watches_.find(deployment);
  if (watch == pod_watches_.end()) {
    if (!applies) return;
    watch = pod_watches_.emplace(deployment, PodWatch{}).first;
  }
  watch->second.*reason = applies;
  if (!watch->second.recreates && !watch->second.waits) pod_watches_.erase(watch);
  const bool count = !pod_watches_.empty();
  if (counted && !count) pod_counts_.Clear();
  if (counted || !count) return;
  for (const ObjectPtr& pod : pods_.List()) pod_counts_.Put(*pod);
}

void DeploymentController::ReplicaSetSeen(const api::Object* old, const api::Object& set) {
  auto uid_of = [](const OwnerReference* controller) { return controller != nullptr ? controller->uid : ""; };
  const bool changed_hands = old == nullptr || uid_of(old->controller()) != uid_of(set.controller());
  if (old != nullptr && changed_hands) WakeController(*old);
  if (set.controller() != nullptr) return WakeController(set);
  // Most changes of an orphan do not affect which Deployments would adopt it.
  if (!set.header().deleting && (changed_hands || old->header().labels != set.header().labels))
    WakeAdopters(set);
}

void DeploymentController::ReplicaSetGone(const api::Object& set) {
  facts_.Forget(set.header().uid);
  WakeController(set);
}

ObjectPtr DeploymentController::ControllerDeployment(const api::Object& set) const {
  const OwnerReference* controller = set.controller();
  if (controller == nullptr || controller->kind != "Deployment") return nullptr;
  ObjectPtr deployment = deployments_.Get({set.name().ns, controller->name});
  return deployment != nullptr && deployment->header().uid == controller->uid ? deployment : nullptr;
}

void DeploymentController::WakeController(const api::Object& set) {
  if (ObjectPtr deployment = ControllerDeployment(set)) loop_.queue().Add(deployment->name());
}

void DeploymentController::WakeAdopters(const api::Object& orphan) {
  for (const std::string& place : LabelPlaces(orphan.header())) {
    for (const ObjectPtr& deployment : deployments_.ByIndex(kBySelector, place)) {
      auto selector =
          api::LabelSelector::FromDocument(api::Find(*deployment->Document(), "spec", "selector"));
      if (selector && selector->Matches(orphan.header())) loop_.queue().Add(deployment->name());
    }
  }
}

void DeploymentController::PodLost(const std::optional<PodCounts::Loss>& loss) {
  if (!loss) return;
  ObjectPtr set = replica_sets_.Get(loss->owner.name);
  if (set == nullptr || set->header().uid != loss->owner.uid) return;
  ObjectPtr deployment = ControllerDeployment(*set);
  if (deployment == nullptr) return;
  auto watch = pod_watches_.find(deployment->name());
  if (watch == pod_watches_.end()) return;
  if (watch->second.waits || loss->last) loop_.queue().Add(watch->first);
}

}  // namespace terrarium::controllers::deployment
