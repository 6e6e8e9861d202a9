// The Deployment controller: its informers and its sync, which claims ReplicaSets and dispatches to one
// decision (rolling.cc, recreate.cc, scaling.cc, rollback.cc). Mirrors syncDeployment of
// pkg/controller/deployment, v1.36. DIVERGES: a sync ends with its first change of a ReplicaSet, whose event
// causes the next sync. Kubernetes goes on with what it had read before, and writes a status that is already
// out of date.

#include "controllers/deployment/deployment_controller.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/json_access.h"
#include "controllers/deployment/internal/annotations.h"
#include "controllers/deployment/internal/conditions.h"
#include "controllers/deployment/internal/deployment_controller.h"
#include "controllers/deployment/internal/pod_template.h"
#include "controllers/deployment/internal/scale_plan.h"
#include "controllers/deployment/internal/selection.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::deployment {
namespace {

using api::Json;
using api::Result;
using api::Task;

// After so many failures in a row a Deployment waits for something to change, as in Kubernetes.
constexpr int kRetriesMax = 15;

// The uid of the controller, if it is a Deployment.
std::vector<std::string> ControllerUid(const api::Object& set) {
  const OwnerReference* controller = set.controller();
  if (controller == nullptr || controller->kind != "Deployment") return {};
  return {controller->uid};
}

std::vector<std::string> OrphanPlaces(const api::Object& set) {
  if (set.controller() != nullptr) return {};
  return LabelPlaces(set.header());
}

std::vector<std::string> DeploymentPlace(const api::Object& deployment) {
  auto selector = api::LabelSelector::FromDocument(api::Find(*deployment.Document(), "spec", "selector"));
  if (!selector || selector->selects_everything()) return {};
  return {SelectorPlace(deployment.header().ns, *selector)};
}

}  // namespace

DeploymentController::DeploymentController(const ControllerContext& context)
    : context_(context),
      deployments_(context.informers.For("deployments")),
      replica_sets_(context.informers.For("replicasets")),
      pods_(context.informers.For("pods")),
      writes_(context, own_),
      loop_(context.env, context.metrics, LoopOptions{.name = "deployment", .retries_max = kRetriesMax},
            [this](ObjectName name) { return Sync(std::move(name)); }),
      deadlines_(context.env, [this](const ObjectName& name) { loop_.queue().Add(name); }) {}

void DeploymentController::Watch() {
  deployments_.AddIndex(kBySelector, DeploymentPlace);
  replica_sets_.AddIndex(kByController, ControllerUid);
  replica_sets_.AddIndex(kOrphans, OrphanPlaces);
  WatchDeployments();
  WatchReplicaSets();
  WatchPods();
}

void DeploymentController::WatchDeployments() {
  std::weak_ptr<DeploymentController> weak = weak_from_this();
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

void DeploymentController::WatchReplicaSets() {
  std::weak_ptr<DeploymentController> weak = weak_from_this();
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

void DeploymentController::WatchPods() {
  std::weak_ptr<DeploymentController> weak = weak_from_this();
  EventHandler handler;
  handler.added = [weak](const ObjectPtr& pod) {
    if (auto self = weak.lock(); self && !self->pod_watches_.empty())
      self->PodLost(self->pod_counts_.Put(*pod));
  };
  handler.updated = [weak](const ObjectPtr&, const ObjectPtr& pod) {
    if (auto self = weak.lock(); self && !self->pod_watches_.empty())
      self->PodLost(self->pod_counts_.Put(*pod));
  };
  handler.deleted = [weak](const ObjectPtr& pod) {
    if (auto self = weak.lock()) self->PodLost(self->pod_counts_.Remove(pod->name()));
  };
  pods_.AddHandler(std::move(handler));
}

Task<ReconcileResult> DeploymentController::Sync(ObjectName name) {
  ObjectPtr deployment = deployments_.Get(name);
  if (deployment == nullptr) co_return Reconciled::Done();
  // The events that bring the view up to date enqueue this Deployment again.
  const OwnWrites::Revisions seen{deployments_.Revision(), replica_sets_.Revision()};
  if (!own_.AreSeen(deployment->header().uid, seen)) co_return Reconciled::Done();
  std::shared_ptr<const Json> document = deployment->Document();
  auto selector = api::LabelSelector::FromDocument(api::Find(*document, "spec", "selector"));
  if (!selector) co_return selector.status();
  if (selector->selects_everything()) {
    ReconcileResult refused = co_await RefuseEverything(deployment);
    co_return refused;
  }
  Claims claims = FindSets(*deployment, *selector);
  if (!claims.to_decide.empty()) {
    Result<Adoption> adopted = co_await ClaimSets(deployment, *selector, std::move(claims.to_decide));
    if (!adopted) co_return adopted.status();
    if (*adopted == Adoption::kAdopted) co_return Reconciled::Done();
  }
  CountPods(*deployment, claims.owned);
  SyncStatePtr sync =
      MakeSyncState(deployment, std::move(claims.owned), DigestOf(*deployment), context_.env.gates);
  sync->seen = replica_sets_.Revision();
  ReconcileResult result = co_await Step(std::move(sync));
  co_return result;
}

// The apiserver refuses such a Deployment; if one is stored nevertheless, it has no effect, as in Kubernetes.
Task<ReconcileResult> DeploymentController::RefuseEverything(ObjectPtr deployment) {
  SyncStatePtr sync = MakeSyncState(deployment, {}, 0, context_.env.gates);
  writes_.RecordEvent(*sync, kWarning, "SelectingAll",
                      "This deployment is selecting all pods. A non-empty selector is required.");
  if (api::IntAt(*sync->document, 0, "status", "observedGeneration") >= sync->generation())
    co_return Reconciled::Done();
  Json patch = {{"metadata", {{"uid", deployment->header().uid}}},
                {"status", {{"observedGeneration", sync->generation()}}}};
  api::Awaitable<api::Client::Written> patching =
      context_.client.Patch("deployments", sync->name, std::move(patch), "status", api::PatchKind::kMerge);
  api::Client::Written written = co_await std::move(patching);
  if (!written) co_return written.status();
  own_.DeploymentWritten(sync->uid(), (*written)->revision());
  co_return Reconciled::Done();
}

DeploymentController::Claims DeploymentController::FindSets(const api::Object& deployment,
                                                            const api::LabelSelector& selector) {
  Claims claims;
  for (const ObjectPtr& set : replica_sets_.ByIndex(kByController, deployment.header().uid)) {
    if (selector.Matches(set->header()))
      claims.owned.push_back(facts_.Of(set));
    else if (!deployment.header().deleting)
      claims.to_decide.push_back(set);
  }
  if (deployment.header().deleting) return claims;
  for (const ObjectPtr& set :
       replica_sets_.ByIndex(kOrphans, SelectorPlace(deployment.header().ns, selector)))
    if (!set->header().deleting && selector.Matches(set->header())) claims.to_decide.push_back(set);
  return claims;
}

// Under TerminationComplete statuses alone are not enough: terminating pods that a ReplicaSet does not report
// are unknown, not zero, and a status reports what its controller had seen (ReplicaSetSize::seen_live). A pod
// that was written before a ReplicaSet's status is counted before a sync uses that status: informers are
// notified in the order of revisions, and syncs follow.
void DeploymentController::CountPods(const api::Object& deployment, std::vector<FactsPtr>& sets) {
  std::shared_ptr<const Json> document = deployment.Document();
  const ReplacementPolicy policy = PolicyOf(api::ObjectAt(*document, "spec"), context_.env.gates);
  const bool waits = policy == ReplacementPolicy::kTerminationComplete;
  SetPodWatch(deployment.name(), &PodWatch::waits, waits);
  if (!waits) return;
  for (FactsPtr& set : sets) set = CountedIn(*set, pod_counts_.Of(set->uid()));
}

// An adopted ReplicaSet comes back as an event and counts from then on. A released one does not count in this
// sync any more.
Task<Result<DeploymentController::Adoption>> DeploymentController::ClaimSets(ObjectPtr deployment,
                                                                             api::LabelSelector selector,
                                                                             std::vector<ObjectPtr> sets) {
  Claimant claimant{.owner = std::move(deployment),
                    .api_version = "apps/v1",
                    .kind = "Deployment",
                    .owner_resource = "deployments",
                    .selector = std::move(selector)};
  auto claiming = ClaimObjects(context_.client, std::move(claimant), "replicasets", std::move(sets));
  Result<std::vector<ObjectPtr>> claimed = co_await std::move(claiming);
  if (!claimed) co_return claimed.status();
  co_return claimed->empty() ? Adoption::kNone : Adoption::kAdopted;
}

std::uint64_t DeploymentController::DigestOf(const api::Object& deployment) {
  std::shared_ptr<const Json> document = deployment.Document();
  Digest& known = digests_[deployment.name()];
  const std::int64_t generation = api::IntAt(*document, 0, "metadata", "generation");
  if (known.uid != deployment.header().uid || known.generation != generation)
    known = {deployment.header().uid, generation,
             TemplateDigest(api::ObjectAt(*document, "spec", "template"))};
  return known.digest;
}

Task<ReconcileResult> DeploymentController::Step(SyncStatePtr sync) {
  const bool deleting = sync->deployment->header().deleting;
  if (!deleting && sync->progress_deadline())
    NotePause(sync->paused(), context_.env.clock.Now(), sync->conditions);
  // Before any ReplicaSet shrinks, so that the current picker is asked.
  if (!deleting) {
    Result<Change> handed = co_await writes_.HandPicker(sync);
    if (!handed) co_return handed.status();
    if (*handed == Change::kChanged) co_return Reconciled::Done();
  }
  if (!deleting) {
    Result<Change> cleared = co_await writes_.Resize(sync, StaleScales(*sync), "no scale is under way");
    if (!cleared) co_return cleared.status();
    if (*cleared == Change::kChanged) co_return Reconciled::Done();
  }
  if (sync->new_set() != nullptr) {
    if (Json patch = NewSetPatch(*sync); !patch.is_null()) {
      Result<void> patched = co_await writes_.PatchNew(sync, std::move(patch));
      if (!patched) co_return patched.status();
      co_return Reconciled::Done();
    }
    NoteNewSet(*sync);
  }
  auto next = [&]() -> Task<ReconcileResult> {
    if (deleting) return WriteStatus(sync, Judge::kCountsOnly);
    if (sync->paused()) return Scale(sync);
    if (auto revision = RollbackAskedFor(sync->annotations())) return RollBack(sync, *revision);
    if (MustScale(sync->size, sync->sizes)) return Scale(sync);
    return sync->size.rolling ? Roll(sync) : Recreate(sync);
  };
  Task<ReconcileResult> stepping = next();
  ReconcileResult result = co_await std::move(stepping);
  co_return result;
}

// The Deployment has the revision of its new ReplicaSet. Progress that no condition reports yet counts from
// now.
void DeploymentController::NoteNewSet(SyncState& sync) const {
  const ReplicaSetFacts& set = *sync.new_set();
  sync.revision = api::StringAt(*set.object->Document(), "metadata", "annotations", kRevision);
  if (!sync.progress_deadline() || deployment::FindCondition(sync.conditions, kProgressing) != nullptr)
    return;
  std::string message = "Found new replica set \"" + set.name() + "\"";
  SetCondition(sync.conditions, MakeCondition({kProgressing, "True", kSetFound, std::move(message)},
                                              context_.env.clock.Now()));
}

}  // namespace terrarium::controllers::deployment

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeDeploymentController(const ControllerContext& context) {
  return std::make_unique<SharedController<deployment::DeploymentController>>(context);
}

}  // namespace terrarium::controllers
