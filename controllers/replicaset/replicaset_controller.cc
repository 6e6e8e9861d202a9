#include "controllers/replicaset/replicaset_controller.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "api/base/feature_gates.h"
#include "api/json_access.h"
#include "controllers/replicaset/internal/replicaset_controller.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::replicaset {
namespace {

using api::Json;
using api::Task;

// The most pods in a burst. The next burst begins when all pods of this one have been observed.
constexpr int kBurstMax = 500;

api::LabelSelector SelectorOf(const Json& owner, bool plain) {
  const Json* selector = api::Find(owner, "spec", "selector");
  if (selector == nullptr) return api::LabelSelector::Nothing();
  api::Result<api::LabelSelector> parsed =
      plain ? api::LabelSelector::FromMap(*selector) : api::LabelSelector::FromDocument(selector);
  // Validation rejects a selector that selects everything; it must not adopt the whole namespace.
  return parsed && !parsed->selects_everything() ? *parsed : api::LabelSelector::Nothing();
}

OwnerRules RulesOf(const api::Object& owner, const ReplicaKind& kind) {
  std::shared_ptr<const Json> document = owner.Document();
  const OwnerReference* controller = owner.controller();
  return {.uid = owner.header().uid,
          .selector = SelectorOf(*document, kind.plain_selector),
          .template_labels =
              api::LabelSelector::FromMap(api::ObjectAt(*document, "spec", "template", "metadata", "labels")),
          .min_ready = std::chrono::seconds(api::IntAt(*document, 0, "spec", "minReadySeconds")),
          .controller_uid = controller != nullptr ? controller->uid : ""};
}

prometheus::Histogram& AgeRatio(Metrics& metrics) {
  return prometheus::BuildHistogram()
      .Name("replicaset_controller_sorting_deletion_age_ratio")
      .Help(
          "[ALPHA] The ratio of chosen deleted pod's ages to the current youngest pod's age (at the time). "
          "Should be "
          "<2. The intent of this metric is to measure the rough efficacy of the LogarithmicScaleDown "
          "feature gate's "
          "effect on the sorting (and deletion) of pods when a replicaset scales down. This only considers "
          "Ready "
          "pods when calculating and reporting.")
      .Register(metrics.registry())
      .Add({}, prometheus::Histogram::BucketBoundaries{0.25, 0.5, 1, 2, 4, 8});
}

}  // namespace

ReplicaSetController::ReplicaSetController(const ControllerContext& context, const ReplicaKind& kind)
    : context_(context),
      kind_(kind),
      owners_(context.informers.For(kind.resource)),
      pods_(context.informers.For("pods")),
      index_(kind.kind),
      expectations_(context.env),
      loop_(context.env, context.metrics, LoopOptions{.name = std::string(kind.queue)},
            [this](ObjectName name) { return Sync(std::move(name)); }),
      available_(context.env, [this](const ObjectName& name) { loop_.queue().Add(name); }),
      picks_(context, [this](const ObjectName& name) { loop_.queue().Add(name); }),
      age_ratio_(AgeRatio(context.metrics)) {}

void ReplicaSetController::Watch() {
  std::weak_ptr<ReplicaSetController> weak = weak_from_this();
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
  owners_.AddHandler(std::move(owners));
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
  pods_.AddHandler(std::move(pods));
}

void ReplicaSetController::OwnerSeen(const api::Object& owner) {
  const ObjectName name = owner.name();
  auto written = written_.find(name);
  if (written != written_.end() && written->second->revision() <= owner.revision()) written_.erase(written);
  index_.SetOwner(name, RulesOf(owner, kind_));
  loop_.queue().Add(name);
}

void ReplicaSetController::OwnerGone(const api::Object& owner) {
  const ObjectName name = owner.name();
  index_.RemoveOwner(name);
  // A new owner of the same name starts with a clean state.
  expectations_.Forget(name);
  terminating_.Forget(owner);
  written_.erase(name);
  available_.Cancel(name);
  picks_.Drop(name);
}

// A terminating pod counts as deleted: its owner replaces it without waiting for its end.
void ReplicaSetController::PodSeen(const ObjectPtr& pod, bool is_new) {
  for (const ReplicaIndex::Effect& effect : index_.PutPod(pod)) {
    bool expected = false;
    const bool gone =
        effect.relation == ReplicaIndex::Effect::Relation::kControlledBefore || pod->header().deleting;
    if (gone) {
      expected = expectations_.DeletionObserved(effect.owner, pod->header().uid);
    } else if (is_new && effect.relation == ReplicaIndex::Effect::Relation::kControls) {
      expectations_.CreationObserved(effect.owner);
      expected = true;
    }
    EnqueueIfAffected(effect, expected);
  }
}

void ReplicaSetController::PodGone(const api::Object& pod) {
  for (const ReplicaIndex::Effect& effect : index_.RemovePod(pod))
    EnqueueIfAffected(effect, expectations_.DeletionObserved(effect.owner, pod.header().uid));
}

void ReplicaSetController::EnqueueIfAffected(const ReplicaIndex::Effect& effect, bool expected) {
  using Change = ReplicaIndex::Effect::Change;
  const bool matters = expected || effect.change == Change::kAny ||
                       (effect.change == Change::kTerminating && TerminatingMatters());
  if (matters) loop_.queue().Add(effect.owner);
}

bool ReplicaSetController::TerminatingMatters() const {
  return kind_.has_terminating_replicas &&
         context_.env.gates.Enabled(api::gate::kDeploymentReplicaSetTerminatingReplicas);
}

ObjectPtr ReplicaSetController::Latest(const ObjectName& name) const {
  ObjectPtr owner = owners_.Get(name);
  auto written = written_.find(name);
  return owner != nullptr && written != written_.end() ? written->second : owner;
}

Task<ReconcileResult> ReplicaSetController::Sync(ObjectName name) {
  ObjectPtr owner = Latest(name);
  PodGroup* group = index_.Find(name);
  if (owner == nullptr || group == nullptr) co_return Reconciled::Done();
  const bool deleting = owner->header().deleting;
  if (!deleting && (!group->strays.empty() || !group->adoptable.empty())) {
    ReconcileResult claimed = co_await Claim(owner);
    if (!claimed) co_return claimed;
    group = index_.Find(name);
    if (group == nullptr || group->rules->uid != owner->header().uid) co_return Reconciled::Done();
  }

  std::shared_ptr<const Json> document = owner->Document();
  const int wanted = static_cast<int>(api::IntAt(*document, 1, "spec", "replicas"));
  const int missing = wanted - group->counts.live();
  std::optional<api::Status> failed;
  // The scale-down that the picker was asked for is no longer wanted.
  if (deleting || missing >= 0) picks_.Drop(name);
  if (!deleting && missing != 0 && expectations_.Satisfied(name)) {
    Burst burst{.owner = owner,
                .wanted = wanted,
                .live = group->counts.live(),
                .terminating = group->counts.terminating(),
                .count = std::min(std::abs(missing), kBurstMax)};
    Task<std::optional<api::Status>> acting = missing > 0 ? CreatePods(burst) : DeletePods(burst);
    failed = co_await std::move(acting);
  }

  group = index_.Find(name);
  if (group == nullptr || group->rules->uid != owner->header().uid) co_return Reconciled::Done();
  // A status without pods that have been created but not observed would make a Deployment assume room that
  // does not exist. The event of the last such pod enqueues this owner again.
  if (!failed && TerminatingMatters() && !expectations_.CreationsSatisfied(name))
    co_return Reconciled::Done();
  std::optional<ReplicaFailure> failure;
  if (failed) failure = ReplicaFailure{missing > 0 ? "FailedCreate" : "FailedDelete", failed->message};
  Json status = NextStatus(*document, CountNow(*group), failure, context_.env.clock.Now());
  ReconcileResult written = co_await WriteStatus(owner, std::move(status));
  AwaitNextAvailable(name);
  if (!written) co_return written;
  if (failed) co_return std::move(*failed);
  co_return Reconciled::Done();
}

// Adopted pods count in the same sync, as written, so that no pod is created in their place.
Task<ReconcileResult> ReplicaSetController::Claim(ObjectPtr owner) {
  const PodGroup& group = *index_.Find(owner->name());
  std::vector<ObjectPtr> candidates;
  for (const std::set<std::string>* names : {&group.strays, &group.adoptable}) {
    for (const std::string& pod : *names) {
      // Reads the live pod: one that was claimed but not observed yet is not claimed again.
      api::Result<ObjectPtr> fresh = context_.client.Get("pods", {owner->header().ns, pod});
      if (!fresh && !fresh.status().Is(api::reason::kNotFound)) co_return fresh.status();
      if (fresh) candidates.push_back(*fresh);
    }
  }
  Claimant claimant{.owner = owner,
                    .api_version = std::string(kind_.api_version),
                    .kind = std::string(kind_.kind),
                    .owner_resource = std::string(kind_.resource),
                    .selector = group.rules->selector};
  Task<api::Result<std::vector<ObjectPtr>>> claiming =
      ClaimObjects(context_.client, std::move(claimant), "pods", std::move(candidates));
  api::Result<std::vector<ObjectPtr>> claimed = co_await std::move(claiming);
  if (!claimed) co_return claimed.status();
  for (const ObjectPtr& pod : *claimed) PodSeen(pod, false);
  co_return Reconciled::Done();
}

ReplicaCounts ReplicaSetController::CountNow(PodGroup& group) const {
  ReplicaCounts counts{.replicas = group.counts.live(),
                       .fully_labeled = group.counts.labelled(),
                       .ready = group.counts.ready(),
                       .available = group.counts.AvailableAt(context_.env.clock.Now()),
                       .terminating = std::nullopt};
  if (TerminatingMatters()) counts.terminating = group.counts.terminating();
  return counts;
}

// Retries once with the live owner, as Kubernetes does.
Task<ReconcileResult> ReplicaSetController::WriteStatus(ObjectPtr owner, Json status) {
  const ObjectName name = owner->name();
  for (bool again : {true, false}) {
    std::shared_ptr<const Json> before = owner->Document();
    const Json& old = api::ObjectAt(*before, "status");
    if (!terminating_.MustWrite(*owner, old, status)) co_return Reconciled::Done();
    Json document = owner->Parse();
    document["status"] = status;
    api::Awaitable<api::Client::Written> writing =
        context_.client.UpdateStatus(kind_.resource, std::move(document));
    api::Client::Written written = co_await std::move(writing);
    if (written) {
      terminating_.Written(**written, old, status);
      ObjectPtr seen = owners_.Get(name);
      if (seen != nullptr && seen->header().uid == owner->header().uid &&
          seen->revision() < (*written)->revision())
        written_[name] = *written;
      co_return Reconciled::Done();
    }
    if (!again) co_return written.status();
    api::Result<ObjectPtr> fresh = context_.client.Get(kind_.resource, name);
    if (!fresh && !fresh.status().Is(api::reason::kNotFound)) co_return fresh.status();
    // The informer will report that the owner is gone or replaced.
    if (!fresh || (*fresh)->header().uid != owner->header().uid) break;
    owner = *fresh;
  }
  co_return Reconciled::Done();
}

void ReplicaSetController::AwaitNextAvailable(const ObjectName& name) {
  PodGroup* group = index_.Find(name);
  std::optional<api::Time> next = group == nullptr ? std::nullopt : group->counts.NextAvailable();
  if (!next) return available_.Cancel(name);
  available_.Set(name, std::max(*next - context_.env.clock.Now(), api::Duration::zero()));
}

}  // namespace terrarium::controllers::replicaset

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeReplicaSetController(const ControllerContext& context) {
  return std::make_unique<SharedController<replicaset::ReplicaSetController>>(context,
                                                                              replicaset::kReplicaSet);
}

std::unique_ptr<Controller> MakeReplicationController(const ControllerContext& context) {
  return std::make_unique<SharedController<replicaset::ReplicaSetController>>(
      context, replicaset::kReplicationController);
}

}  // namespace terrarium::controllers
