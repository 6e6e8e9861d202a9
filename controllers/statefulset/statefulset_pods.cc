// Creates, deletes and restores the pods of a StatefulSet.

#include <algorithm>
#include <utility>

#include "api/json_access.h"
#include "api/write_request.h"
#include "controllers/runtime/send_all.h"
#include "controllers/statefulset/internal/identity.h"
#include "controllers/statefulset/internal/pod_template.h"
#include "controllers/statefulset/internal/statefulset_controller.h"

namespace terrarium::controllers::statefulset {
namespace {

using api::Json;
using api::Task;
using Answers = std::vector<api::Client::Written>;

// The pod of that uid does not exist any more.
bool IsGone(const api::Status& status) {
  return status.Is(api::reason::kNotFound) || status.Is(api::reason::kConflict);
}

std::string Ordinals(const SetSpec& spec) {
  return spec.replicas == 0 ? "none" : std::to_string(spec.start) + " to " + std::to_string(spec.End());
}

}  // namespace

// Scaling comes before updates: an update begins when every ordinal has a pod, and under OrderedReady when
// all of these are available and no surplus pod is left.
Task<StatefulSetController::Outcome> StatefulSetController::Act(SyncPtr sync) {
  const std::size_t condemned = sync->sorted.condemned.size();
  const std::pair<std::size_t, Step> steps[] = {
      {sync->sorted.replicas.size(), &StatefulSetController::ProcessReplicas},
      {condemned, &StatefulSetController::ProcessCondemnedClaims},
      {condemned, &StatefulSetController::ProcessCondemned}};
  for (const auto& [count, step] : steps) {
    Task<Outcome> running = ForEach(sync, count, step);
    Outcome outcome = co_await std::move(running);
    if (outcome.Stops()) co_return outcome;
    // The events of the created pods begin the sync of the next ordinals.
    if (!sync->sorted.complete) co_return outcome;
  }
  if (sync->spec.on_delete) co_return Outcome{};
  Task<Outcome> updating = UpdatePods(sync);
  Outcome outcome = co_await std::move(updating);
  co_return outcome;
}

Task<StatefulSetController::Outcome> StatefulSetController::ForEach(SyncPtr sync, std::size_t count,
                                                                    Step step) {
  std::size_t batch = 1;
  for (std::size_t first = 0; first < count;) {
    const std::size_t size = std::min(batch, count - first);
    Task<Outcome> running = (this->*step)(sync, first, size);
    Outcome outcome = co_await std::move(running);
    if (outcome.Stops()) co_return outcome;
    first += size;
    if (sync->spec.parallel) batch = std::min(2 * batch, kBatchMax);
  }
  co_return Outcome{};
}

Task<StatefulSetController::Outcome> StatefulSetController::ProcessReplicas(SyncPtr sync, std::size_t first,
                                                                            std::size_t count) {
  Outcome outcome;
  std::vector<const Replica*> missing;
  std::vector<StatefulPodPtr> ended;
  for (std::size_t i = first; i < first + count; ++i) {
    const Replica& replica = sync->sorted.replicas[i];
    const ReplicaStep step = NextStep(sync->spec, replica, sync->now);
    if (EndsSync(sync->spec, step)) outcome.ends = true;
    if (step.action == ReplicaStep::Action::kCreate) {
      Task<bool> preparing = PrepareClaims(sync, &replica, &outcome);
      const bool prepared = co_await std::move(preparing);
      if (prepared) missing.push_back(&replica);
      continue;
    }
    if (step.action == ReplicaStep::Action::kReplaceEnded) {
      ended.push_back(replica.pod);
      continue;
    }
    if (step.restores_claims) {
      Task<Outcome> restoring = RestoreClaims(sync, &replica);
      Outcome restored = co_await std::move(restoring);
      if (restored.error) {
        outcome.Fail(*restored.error);
        continue;
      }
    }
    if (step.action != ReplicaStep::Action::kKeep) continue;
    Task<Outcome> restoring = RestorePod(sync, &replica);
    Outcome restored = co_await std::move(restoring);
    if (restored.error) outcome.Fail(*restored.error);
  }
  if (!missing.empty()) {
    Task<Outcome> creating = CreatePods(sync, std::move(missing));
    Outcome created = co_await std::move(creating);
    if (created.error) outcome.Fail(*created.error);
  }
  if (!ended.empty()) {
    Task<Outcome> deleting = DeletePods(sync, std::move(ended), [](const PodFacts& pod) {
      return "the pod has ended (" + std::string(api::PhaseName(pod.phase)) + ") and is replaced";
    });
    Outcome deleted = co_await std::move(deleting);
    if (deleted.error) outcome.Fail(*deleted.error);
  }
  co_return outcome;
}

Task<bool> StatefulSetController::PrepareClaims(SyncPtr sync, const Replica* replica, Outcome* outcome) {
  const std::string pod = PodName(sync->Name(), replica->ordinal);
  const PodClaims claims = sync->ClaimsOf(pod, "", replica->ordinal, false);
  api::Result<ClaimControl::Usability> usability = claims_.Check(claims);
  if (!usability) {
    outcome->Fail(usability.status());
    co_return false;
  }
  if (*usability == ClaimControl::Usability::kOfEarlierPod) co_return false;
  Task<api::Result<void>> creating = claims_.CreateMissing(claims);
  api::Result<void> created = co_await std::move(creating);
  if (created) co_return true;
  reporter_.PodEvent(*sync->set, "Create", pod, &created.status());
  outcome->Fail(created.status());
  co_return false;
}

Task<StatefulSetController::Outcome> StatefulSetController::CreatePods(SyncPtr sync,
                                                                       std::vector<const Replica*> replicas) {
  const int current_replicas = static_cast<int>(api::IntAt(*sync->document, 0, "status", "currentReplicas"));
  const Json current_template = history::TemplateOf(*sync->current);
  const Json update_template = history::TemplateOf(*sync->update);
  std::vector<api::WriteRequest> requests;
  for (const Replica* replica : replicas) {
    const bool current = UsesCurrentRevision(sync->spec, replica->ordinal, current_replicas);
    const ObjectPtr& revision = current ? sync->current : sync->update;
    Json pod = NewPod(*sync->set, *sync->document, current ? current_template : update_template,
                      revision->header().name, replica->ordinal);
    requests.push_back(api::RequestToCreate("pods", sync->set->header().ns, std::move(pod)));
  }
  api::Awaitable<Answers> creating = SendAll(context_.client, std::move(requests));
  Answers answers = co_await std::move(creating);

  Outcome outcome;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const int ordinal = replicas[i]->ordinal;
    const std::string pod = PodName(sync->Name(), ordinal);
    const api::Status* error = answers[i] ? nullptr : &answers[i].status();
    if (error != nullptr) outcome.Fail(*error);
    if (error != nullptr && error->Is(api::reason::kAlreadyExists)) continue;
    std::string uid;
    if (error == nullptr) {
      const api::Object& created = **answers[i];
      uid = created.header().uid;
      sync->state->pods_written = std::max(sync->state->pods_written, created.revision());
      std::string rule = "ordinal " + std::to_string(ordinal) + " has no pod";
      if (!sync->spec.parallel && ordinal > sync->spec.start)
        rule += ", and the pods before it are available";
      reporter_.Explain({sync->set, std::move(rule), sync->saw}, "create", "pods", pod);
    }
    Task<api::Result<void>> owning = claims_.SetOwners(sync->ClaimsOf(pod, uid, ordinal, false));
    api::Result<void> owned = co_await std::move(owning);
    if (!owned) {
      reporter_.PodEvent(*sync->set, "Update", pod, &owned.status());
      outcome.Fail(owned.status());
      continue;
    }
    reporter_.PodEvent(*sync->set, "Create", pod, error);
  }
  co_return outcome;
}

// A pending pod may wait for claims that were deleted.
Task<StatefulSetController::Outcome> StatefulSetController::RestoreClaims(SyncPtr sync,
                                                                          const Replica* replica) {
  const PodFacts& pod = replica->pod->facts;
  const PodClaims claims = sync->ClaimsOf(pod.name, pod.uid, replica->ordinal, false);
  Task<api::Result<void>> creating = claims_.CreateMissing(claims);
  api::Result<void> created = co_await std::move(creating);
  if (!created) co_return Outcome{false, created.status()};
  Task<api::Result<void>> owning = claims_.SetOwners(claims);
  api::Result<void> owned = co_await std::move(owning);
  if (owned) co_return Outcome{};
  reporter_.PodEvent(*sync->set, "Update", pod.name, &owned.status());
  co_return Outcome{false, owned.status()};
}

Task<StatefulSetController::Outcome> StatefulSetController::RestorePod(SyncPtr sync, const Replica* replica) {
  const PodFacts& pod = replica->pod->facts;
  const PodClaims claims = sync->ClaimsOf(pod.name, pod.uid, replica->ordinal, false);
  api::Result<ClaimControl::Ownership> ownership = claims_.CheckOwners(claims);
  const bool owners_differ = ownership && *ownership == ClaimControl::Ownership::kDiffers;
  const bool has_storage = HasStorage(pod, *sync->document, sync->Name(), replica->ordinal);
  if (pod.has_name_label && has_storage && !owners_differ) co_return Outcome{};

  api::Result<void> done;
  if (!has_storage) {
    Task<api::Result<void>> creating = claims_.CreateMissing(claims);
    done = co_await std::move(creating);
  }
  if (done) {
    Task<api::Result<void>> owning = claims_.SetOwners(claims);
    done = co_await std::move(owning);
  }
  // DIVERGES: Kubernetes also updates a pod whose claims alone had the wrong owners, which changes nothing.
  if (done && !(pod.has_name_label && has_storage)) {
    Task<api::Result<void>> updating = UpdatePod(sync, replica);
    done = co_await std::move(updating);
  }
  reporter_.PodEvent(*sync->set, "Update", pod.name, done ? nullptr : &done.status());
  if (!done) co_return Outcome{false, done.status()};
  co_return Outcome{};
}

Task<api::Result<void>> StatefulSetController::UpdatePod(SyncPtr sync, const Replica* replica) {
  ObjectPtr pod = replica->pod->object;
  for (bool again : {true, false}) {
    Json document = pod->Parse();
    SetIdentity(document, replica->ordinal);
    if (!HasStorage(FactsOf(*pod), *sync->document, sync->Name(), replica->ordinal))
      SetStorage(document, *sync->document, sync->Name(), replica->ordinal);
    api::Awaitable<api::Client::Written> updating = context_.client.Update("pods", std::move(document));
    api::Client::Written updated = co_await std::move(updating);
    if (updated) {
      sync->state->pods_written = std::max(sync->state->pods_written, (*updated)->revision());
      co_return api::Result<void>();
    }
    if (!again || !updated.status().Is(api::reason::kConflict)) co_return updated.status();
    api::Result<ObjectPtr> fresh = context_.client.Get("pods", pod->name());
    if (!fresh || (*fresh)->header().uid != pod->header().uid) co_return updated.status();
    pod = *fresh;
  }
  co_return api::Result<void>();
}

Task<StatefulSetController::Outcome> StatefulSetController::ProcessCondemnedClaims(SyncPtr sync,
                                                                                   std::size_t first,
                                                                                   std::size_t count) {
  Outcome outcome;
  for (std::size_t i = first; i < first + count; ++i) {
    const PodFacts& pod = sync->sorted.condemned[i]->facts;
    const PodClaims claims = sync->ClaimsOf(pod.name, pod.uid, OrdinalOf(sync->Name(), pod.name), true);
    api::Result<ClaimControl::Ownership> ownership = claims_.CheckOwners(claims);
    if (!ownership) {
      outcome.Fail(ownership.status());
      continue;
    }
    if (*ownership == ClaimControl::Ownership::kAsWanted) continue;
    Task<api::Result<void>> owning = claims_.SetOwners(claims);
    api::Result<void> owned = co_await std::move(owning);
    if (!owned) outcome.Fail(owned.status());
  }
  co_return outcome;
}

Task<StatefulSetController::Outcome> StatefulSetController::ProcessCondemned(SyncPtr sync, std::size_t first,
                                                                             std::size_t count) {
  Outcome outcome;
  std::vector<StatefulPodPtr> surplus;
  for (std::size_t i = first; i < first + count; ++i) {
    const StatefulPodPtr& pod = sync->sorted.condemned[i];
    const bool is_first = sync->sorted.first_unavailable == OrdinalOf(sync->Name(), pod->facts.name);
    const CondemnedStep step = NextCondemnedStep(sync->spec, pod->facts, is_first, sync->now);
    if (step == CondemnedStep::kDelete) surplus.push_back(pod);
    if (!sync->spec.parallel) outcome.ends = true;
  }
  if (surplus.empty()) co_return outcome;
  const std::string rule = "the pod's ordinal is not one of the set's: " + Ordinals(sync->spec);
  Task<Outcome> deleting = DeletePods(sync, std::move(surplus), [rule](const PodFacts&) { return rule; });
  Outcome deleted = co_await std::move(deleting);
  if (deleted.error) outcome.Fail(*deleted.error);
  co_return outcome;
}

Task<StatefulSetController::Outcome> StatefulSetController::UpdatePods(SyncPtr sync) {
  const std::vector<Replica>& replicas = sync->sorted.replicas;
  const std::string update = sync->update->header().name;
  metrics_.UnavailableReplicas(sync->set->name(), sync->spec,
                               CountUnavailable(sync->spec, replicas, sync->now));
  std::vector<StatefulPodPtr> outdated;
  for (const Replica* replica : PodsToUpdate(sync->spec, replicas, update, sync->now))
    outdated.push_back(replica->pod);
  if (outdated.empty()) co_return Outcome{};
  const std::vector<StatefulPodPtr> chosen = outdated;
  Task<Outcome> deleting = DeletePods(sync, std::move(outdated), [update](const PodFacts& pod) {
    return "the pod is of revision " + pod.revision + ", the update revision is " + update;
  });
  Outcome deleted = co_await std::move(deleting);
  // DIVERGES: Kubernetes subtracts every deleted pod, also one of a third revision, and can get below 0.
  if (!deleted.error)
    for (const StatefulPodPtr& pod : chosen)
      if (pod->facts.revision == sync->status.current_revision) --sync->status.current;
  co_return deleted;
}

Task<StatefulSetController::Outcome> StatefulSetController::DeletePods(
    SyncPtr sync, std::vector<StatefulPodPtr> pods, std::function<std::string(const PodFacts&)> rule) {
  std::vector<api::WriteRequest> requests;
  for (const StatefulPodPtr& pod : pods) {
    // The uid protects another pod that has taken the name.
    requests.push_back(api::RequestToDelete("pods", pod->object->name(), {.uid = pod->facts.uid}));
    sync->state->deletions.emplace(pod->facts.uid, pod->facts.name);
  }
  api::Awaitable<Answers> deleting = SendAll(context_.client, std::move(requests));
  Answers answers = co_await std::move(deleting);

  Outcome outcome;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const PodFacts& pod = pods[i]->facts;
    const api::Status* error = answers[i] ? nullptr : &answers[i].status();
    if (error != nullptr && IsGone(*error)) {
      error = nullptr;
    } else if (error != nullptr) {
      sync->state->deletions.erase(pod.uid);
      outcome.Fail(*error);
    } else {
      reporter_.Explain({sync->set, rule(pod), sync->saw}, "delete", "pods", pod.name);
    }
    reporter_.PodEvent(*sync->set, "Delete", pod.name, error);
  }
  co_return outcome;
}

}  // namespace terrarium::controllers::statefulset
