#include "controllers/daemonset/daemonset_controller.h"

#include <algorithm>
#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "controllers/daemonset/internal/daemonset_controller.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::daemonset {
namespace {

using api::Json;
using api::Task;

constexpr std::string_view kResource = "daemonsets";
// The most creations, and the most deletions, in a step. The next step begins when these were observed.
constexpr std::size_t kBurstMax = 250;

// Optional counts are omitted when they are 0.
void SetCount(Json& status, const char* field, std::int64_t count) {
  if (count == 0)
    status.erase(field);
  else
    status[field] = count;
}

Json NextStatus(const Json& daemon_set, const DaemonCounts& counts) {
  Json status = api::ObjectAt(daemon_set, "status");
  status["desiredNumberScheduled"] = counts.desired;
  status["currentNumberScheduled"] = counts.current;
  status["numberMisscheduled"] = counts.misscheduled;
  status["numberReady"] = counts.ready;
  SetCount(status, "updatedNumberScheduled", counts.updated);
  SetCount(status, "numberAvailable", counts.available);
  SetCount(status, "numberUnavailable", counts.desired - counts.available);
  return status;
}

}  // namespace

DaemonSetController::DaemonSetController(const ControllerContext& context)
    : context_(context),
      daemon_sets_(context.informers.For(kResource)),
      pods_(context.informers.For("pods")),
      nodes_(context.informers.For("nodes")),
      history_(context, std::string(kResource), "DaemonSet"),
      index_(context.env.clock),
      expectations_(context.env),
      loop_(context.env, context.metrics, LoopOptions{.name = "daemonset", .workers = 2},
            [this](ObjectName name) { return Sync(std::move(name)); }),
      changes_(context.env, [this](const ObjectName& name) { loop_.queue().Add(name); }) {}

DaemonIndex::Owner* DaemonSetController::Current(const Subject& subject) {
  DaemonIndex::Owner* owner = index_.Find(subject.name());
  return owner != nullptr && owner->rules.uid == subject.uid() ? owner : nullptr;
}

Task<ReconcileResult> DaemonSetController::Sync(ObjectName name) {
  ObjectPtr owner = daemon_sets_.Get(name);
  if (owner == nullptr) co_return Reconciled::Done();
  // The event of the own write enqueues the DaemonSet again.
  auto written = written_.find(name);
  if (written != written_.end() && owner->revision() < written->second) co_return Reconciled::Done();
  auto subject = std::make_shared<Subject>(Subject{.owner = owner, .document = owner->Document()});
  if (const Json* selector = api::Find(*subject->document, "spec", "selector");
      selector != nullptr && selector->empty()) {
    RecordEvent(*subject, kWarning, "SelectingAll",
                "This daemon set is selecting all pods. A non-empty selector is required.");
    co_return Reconciled::Done();
  }
  // The revisions may be gone before the pods, so the status of a DaemonSet that is being deleted would be
  // wrong.
  if (owner->header().deleting) co_return Reconciled::Done();

  Failure failed = co_await ReadHistory(subject);
  if (failed) co_return std::move(*failed);
  failed = co_await ClaimPods(subject);
  if (failed) co_return std::move(*failed);
  DaemonIndex::Owner* current = Current(*subject);
  if (current == nullptr) co_return Reconciled::Done();
  const api::Time now = context_.env.clock.Now();
  current->nodes.SetRules(
      {.hash = subject->hash,
       .generation = TemplateGeneration(*subject->document),
       .min_ready = std::chrono::seconds(api::IntAt(*subject->document, 0, "spec", "minReadySeconds")),
       .surge = AllowsSurge(*subject->document)},
      now);
  current->nodes.Advance(now);

  // Without the own last step in view only the status is current.
  const bool acts = expectations_.Satisfied(name);
  if (acts) failed = co_await Update(subject);
  ReconcileResult result = co_await WriteStatus(subject, acts);
  AwaitNextChange(name);
  if (failed) co_return std::move(*failed);
  co_return result;
}

// Adopted pods count in the same sync, as written, so that no pod is created in their place.
Task<DaemonSetController::Failure> DaemonSetController::ClaimPods(SubjectPtr subject) {
  DaemonIndex::Owner* owner = Current(*subject);
  if (owner == nullptr || (owner->strays.empty() && owner->adoptable.empty())) co_return std::nullopt;
  std::set<std::string> names = owner->strays;
  names.insert(owner->adoptable.begin(), owner->adoptable.end());
  std::vector<ObjectPtr> candidates;
  for (const std::string& pod : names) {
    // Reads the live pod: one that was claimed but not observed yet is not claimed again.
    api::Result<ObjectPtr> fresh = context_.client.Get("pods", {subject->name().ns, pod});
    if (!fresh && !fresh.status().Is(api::reason::kNotFound)) co_return fresh.status();
    if (fresh) candidates.push_back(*fresh);
  }
  Claimant claimant{.owner = subject->owner,
                    .api_version = "apps/v1",
                    .kind = "DaemonSet",
                    .owner_resource = std::string(kResource),
                    .selector = owner->rules.selector};
  Task<api::Result<std::vector<ObjectPtr>>> claiming =
      ClaimObjects(context_.client, std::move(claimant), "pods", std::move(candidates));
  api::Result<std::vector<ObjectPtr>> claimed = co_await std::move(claiming);
  if (!claimed) co_return claimed.status();
  owner = Current(*subject);
  if (owner == nullptr) co_return std::nullopt;
  for (const std::string& pod : names) {
    owner->strays.erase(pod);
    owner->adoptable.erase(pod);
  }
  for (const ObjectPtr& pod : *claimed) PodSeen(pod, false);
  co_return std::nullopt;
}

Task<DaemonSetController::Failure> DaemonSetController::Update(SubjectPtr subject) {
  DaemonIndex::Owner* owner = Current(*subject);
  if (owner == nullptr) co_return std::nullopt;
  Task<Failure> managing = Take(subject, ManageStep(*subject, *owner));
  Failure failed = co_await std::move(managing);
  if (failed) co_return failed;

  owner = Current(*subject);
  if (owner == nullptr) co_return std::nullopt;
  const bool rolls = api::StringAt(*subject->document, "spec", "updateStrategy", "type") == "RollingUpdate";
  if (rolls && expectations_.Satisfied(subject->name())) {
    const DaemonNodes::NodeSet& lost = owner->nodes.At(RolloutStep::kLost);
    if (!lost.empty()) co_return api::NotFound({.group = "", .resource = "nodes"}, (*lost.begin())->name);
    Task<Failure> rolling = Take(subject, RolloutStepOf(*subject, *owner));
    failed = co_await std::move(rolling);
    if (failed) co_return failed;
  }
  failed = co_await TruncateHistory(subject);
  co_return failed;
}

DaemonSetController::Step DaemonSetController::ManageStep(const Subject& subject, DaemonIndex::Owner& owner) {
  Step step{.create_rule = "the node fits the template and has no pod",
            .remove_rule = "the pod has ended, is one too many, or its node no longer fits",
            .saw = {{"desired", owner.nodes.counts().desired}, {"current", owner.nodes.counts().current}}};
  auto remove = [&](const DaemonNodes::Node& node, const DaemonPod& pod) {
    step.remove.push_back({pod.pod->header().name, pod.pod->header().uid, node.name});
  };
  for (const DaemonNodes::Node* node : owner.nodes.busy()) {
    if (node->plan.create && step.create.size() < kBurstMax) step.create.push_back(node->name);
    for (const DaemonPod* pod : node->plan.ended)
      if (step.remove.size() < kBurstMax && DeletesEnded(subject, node->name, *pod)) remove(*node, *pod);
    for (const DaemonPod* pod : node->plan.surplus)
      if (step.remove.size() < kBurstMax) remove(*node, *pod);
  }
  return step;
}

bool DaemonSetController::DeletesEnded(const Subject& subject, const std::string& node,
                                       const DaemonPod& pod) {
  const std::string place = pod.pod->name().String() + " on node " + node;
  if (pod.phase == api::Phase::kSucceeded) {
    RecordEvent(subject, kNormal, "SucceededDaemonPod",
                "Found succeeded daemon pod " + place + ", will try to delete it");
    return true;
  }
  std::optional<api::Duration> delay =
      failed_pods_.Delay(subject.uid(), api::IntAt(*subject.document, 0, "status", "observedGeneration"),
                         node, context_.env.clock.Now());
  if (delay) {
    loop_.queue().AddAfter(subject.name(), *delay);
    return false;
  }
  RecordEvent(subject, kWarning, "FailedDaemonPod",
              "Found failed daemon pod " + place + ", will try to kill it");
  return true;
}

DaemonSetController::Step DaemonSetController::RolloutStepOf(const Subject& subject,
                                                             const DaemonIndex::Owner& owner) const {
  const DaemonCounts& counts = owner.nodes.counts();
  const RolloutLimits limits = LimitsOf(*subject.document, counts.desired);
  PodChanges changes = NextRolloutChanges(owner.nodes, limits, kBurstMax);
  Step step{
      .create = std::move(changes.create),
      .create_rule = "rolling update: the node has a pod of an older template, within maxSurge",
      .remove_rule = owner.nodes.rules().surge
                         ? "rolling update: the node has an available pod of the new template, or needs none"
                         : "rolling update: the pod has an older template, within maxUnavailable",
      .saw = {{"desired", counts.desired},
              {"available", counts.available},
              {"updated", counts.updated},
              {"replacing", counts.waiting},
              {"maxSurge", limits.surge},
              {"maxUnavailable", limits.unavailable},
              {"revision", subject.hash}}};
  for (const DaemonPod* pod : changes.remove)
    step.remove.push_back(
        {pod->pod->header().name, pod->pod->header().uid, TargetNode(*pod->pod, *pod->pod->Document())});
  return step;
}

void DaemonSetController::RecordEvent(const Subject& subject, std::string_view type, std::string_view reason,
                                      std::string message) const {
  context_.recorder.Record({"daemonset-controller"}, ReferenceTo(*subject.owner, "apps/v1", "DaemonSet"),
                           type, reason, std::move(message));
}

// Retries once with the live DaemonSet, as Kubernetes does.
Task<ReconcileResult> DaemonSetController::WriteStatus(SubjectPtr subject, bool observed) {
  DaemonIndex::Owner* current = Current(*subject);
  if (current == nullptr) co_return Reconciled::Done();
  const ObjectName name = subject->name();
  const std::int64_t generation = api::IntAt(*subject->document, 0, "metadata", "generation");
  const DaemonCounts counts = current->nodes.counts();
  ObjectPtr owner = subject->owner;
  for (bool again : {true, false}) {
    Json document = owner->Parse();
    Json status = NextStatus(document, counts);
    if (observed) SetCount(status, "observedGeneration", generation);
    if (status == api::ObjectAt(document, "status")) break;
    document["status"] = std::move(status);
    api::Awaitable<api::Client::Written> writing =
        context_.client.UpdateStatus(kResource, std::move(document));
    api::Client::Written written = co_await std::move(writing);
    if (written) {
      if (Current(*subject) != nullptr) written_[name] = (*written)->revision();
      break;
    }
    if (!again) co_return written.status();
    api::Result<ObjectPtr> fresh = context_.client.Get(kResource, name);
    if (!fresh && !fresh.status().Is(api::reason::kNotFound)) co_return fresh.status();
    // The informer will report that the DaemonSet is gone or replaced.
    if (!fresh || (*fresh)->header().uid != owner->header().uid) break;
    owner = *fresh;
  }
  co_return Reconciled::Done();
}

void DaemonSetController::AwaitNextChange(const ObjectName& name) {
  DaemonIndex::Owner* owner = index_.Find(name);
  const api::Time next = owner == nullptr ? kNoTime : owner->nodes.NextChange();
  if (next == kNoTime) return changes_.Cancel(name);
  changes_.Set(name, std::max(next - context_.env.clock.Now(), api::Duration::zero()));
}

}  // namespace terrarium::controllers::daemonset

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeDaemonSetController(const ControllerContext& context) {
  return std::make_unique<SharedController<daemonset::DaemonSetController>>(context);
}

}  // namespace terrarium::controllers
