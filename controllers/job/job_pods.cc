// Claims, creates and deletes pods. Mirrors getPodsForJob and manageJob of
// pkg/controller/job/job_controller.go, v1.36.

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "controllers/job/internal/job_controller.h"
#include "controllers/job/internal/pod_template.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::job {
namespace {

using api::Json;
using api::Result;
using api::Task;

IndexSet IndexesOf(const Tally& tally, bool (PodFacts::*wanted)() const) {
  std::vector<int> indexes;
  for (const JobPodPtr& pod : tally.pods)
    if ((pod->facts().*wanted)()) indexes.push_back(pod->facts().index);
  return IndexSet::Of(std::move(indexes));
}

std::vector<const PodFacts*> ActivePods(const Tally& tally) {
  std::vector<const PodFacts*> active;
  for (const JobPodPtr& pod : tally.pods)
    if (pod->facts().Active()) active.push_back(&pod->facts());
  return active;
}

// The Job's pods in the informer's view, and adopted pods that the informer has not shown as its own yet.
std::vector<JobPodPtr> SelectedPods(const JobState& state, const std::vector<ObjectPtr>& adopted) {
  std::vector<JobPodPtr> pods;
  for (const auto& [name, pod] : state.pods)
    if (state.selector.Matches(pod->header())) pods.push_back(pod);
  for (const ObjectPtr& pod : adopted) {
    if (state.pods.contains(pod->header().name)) continue;
    PodFacts facts = FactsOf(*pod->Document());
    facts.has_finalizer = true;  // the adoption patch has added it
    pods.push_back(std::make_shared<JobPod>(std::move(facts), pod));
  }
  return pods;
}

Demand DemandOf(const JobSpec& spec, const Tally& tally) {
  return {.completions = spec.completions,
          .parallelism = spec.parallelism,
          .succeeded = tally.succeeded,
          .active = tally.counts.active(),
          .terminating = tally.counts.terminating()};
}

// How often the index has failed, from the pod kept for it.
IndexFailures FailuresBefore(const JobSpec& spec, const Tally& tally, int index) {
  auto kept = tally.kept.find(index);
  if (kept == tally.kept.end()) return NextIndexFailures(nullptr, true);
  const auto key = std::tie(kept->second->index, kept->second->name);
  auto pod = std::lower_bound(tally.pods.begin(), tally.pods.end(), key,
                              [](const JobPodPtr& each, const auto& wanted) {
                                return std::tie(each->facts().index, each->facts().name) < wanted;
                              });
  return NextIndexFailures(kept->second, (*pod)->Verdict(spec).counts);
}

}  // namespace

// Adopts orphans that the Job selects and releases pods that it does not select any more.
Task<Result<std::vector<JobPodPtr>>> JobController::Claim(SyncStatePtr sync) {
  const StatePtr state = sync->state;
  std::vector<ObjectPtr> candidates;
  std::vector<std::string> released;  // uids
  for (const auto& [name, pod] : state->pods) {
    if (sync->Deleting() || state->selector.Matches(pod->header())) continue;
    if (!state->releases.insert(pod->facts().uid).second) continue;
    released.push_back(pod->facts().uid);
    candidates.push_back(pod->object());
  }
  std::set<std::string> adoptable = std::exchange(state->adoptable, {});
  for (const std::string& name : adoptable)
    if (ObjectPtr pod = pods_.Get({sync->name.ns, name})) candidates.push_back(std::move(pod));
  if (candidates.empty()) co_return SelectedPods(*state, {});

  Claimant claimant{.owner = sync->job,
                    .api_version = "batch/v1",
                    .kind = "Job",
                    .owner_resource = "jobs",
                    .selector = state->selector,
                    .finalizer = kTrackingFinalizer};
  Task<Result<std::vector<ObjectPtr>>> claiming =
      ClaimObjects(context_.client, std::move(claimant), "pods", std::move(candidates));
  Result<std::vector<ObjectPtr>> adopted = co_await std::move(claiming);
  if (!adopted) {
    // Check all of them again, whichever one failed.
    for (const std::string& uid : released) state->releases.erase(uid);
    state->adoptable.merge(adoptable);
    co_return adopted.status();
  }
  co_return SelectedPods(*state, *adopted);
}

// Brings the number of active pods to the wanted one. One sync either deletes or creates pods; deletion comes
// first.
Task<JobController::Outcome> JobController::Manage(SyncStatePtr sync) {
  const JobSpec& spec = sync->spec;
  const Demand demand = DemandOf(spec, sync->tally);
  sync->action = kTracking;
  if (spec.suspended) {
    Task<Outcome> deleting = DeletePods(sync, "the Job is suspended", ActivePods(sync->tally));
    Outcome outcome = co_await std::move(deleting);
    co_return outcome;
  }
  std::vector<const PodFacts*> extra =
      PodsToRemove(ActivePods(sync->tally), spec.rules.index_end, PodsTooMany(demand));
  if (!extra.empty()) {
    if (extra.size() > kPodsAtATimeMax) extra.resize(kPodsAtATimeMax);
    std::string rule = "pods wanted: " + std::to_string(WantedActive(demand));
    if (spec.indexed) rule += ", one for each index";
    Task<Outcome> deleting = DeletePods(sync, std::move(rule), std::move(extra));
    Outcome outcome = co_await std::move(deleting);
    co_return outcome;
  }
  const int missing = PodsMissing(demand, spec.rules);
  if (missing == 0) co_return std::nullopt;
  sync->action = kPodsCreated;
  std::optional<std::vector<int>> indexes = IndexesToCreate(*sync, std::min(missing, kPodsAtATimeMax));
  if (!indexes || indexes->empty()) co_return std::nullopt;
  Task<Outcome> creating = CreatePods(sync, std::move(*indexes));
  Outcome outcome = co_await std::move(creating);
  co_return outcome;
}

// One entry for each pod to create now, kUnknownIndex where the Job is not indexed; nullopt during backoff.
std::optional<std::vector<int>> JobController::IndexesToCreate(const SyncState& sync, int missing) {
  const JobSpec& spec = sync.spec;
  const Tally& tally = sync.tally;
  api::Duration wait{};
  std::vector<int> indexes(static_cast<std::size_t>(missing), kUnknownIndex);
  if (!spec.backoff_limit_per_index) wait = RemainingBackoff(tally.backoff, Now());
  if (spec.indexed && wait == api::Duration::zero()) {
    const IndexSet active = IndexesOf(tally, &PodFacts::Active);
    const IndexSet terminating = IndexesOf(tally, &PodFacts::Terminating);
    std::vector<const IndexSet*> taken = {&tally.completed_indexes, &active};
    if (spec.rules.only_replace_failed) taken.push_back(&terminating);
    if (tally.failed_indexes) taken.push_back(&*tally.failed_indexes);
    indexes = FirstPendingIndexes(missing, *spec.rules.index_end, taken);
    if (spec.backoff_limit_per_index) {
      IndexesReady ready = IndexesPastBackoff(indexes, tally.kept, Now());
      indexes = std::move(ready.indexes);
      wait = ready.wait;
    }
  }
  if (wait == api::Duration::zero()) return indexes;
  backoffs_.Set(sync.name, std::max(wait, kBatchPeriod));
  return std::nullopt;
}

Task<JobController::Outcome> JobController::DeletePods(SyncStatePtr sync, std::string rule,
                                                       std::vector<const PodFacts*> pods) {
  sync->action = kPodsDeleted;
  std::vector<PodControl::Target> targets;
  std::set<std::string> uids;
  for (const PodFacts* pod : pods) {
    targets.push_back(PodControl::TargetOf(*pod, true));
    uids.insert(pod->uid);
  }
  expectations_.ExpectDeletions(sync->name, std::move(uids));
  Decision decision{sync->job, std::move(rule), sync->Saw()};
  Task<Deleted> deleting = pod_control_.Delete(std::move(decision), std::move(targets));
  Deleted deleted = co_await std::move(deleting);
  for (const std::string& uid : deleted.not_expected) expectations_.DeletionObserved(sync->name, uid);
  sync->active -= deleted.pods;
  sync->ready -= deleted.ready;
  sync->terminating += deleted.pods;
  co_return deleted.failure;
}

Task<JobController::Outcome> JobController::CreatePods(SyncStatePtr sync, std::vector<int> indexes) {
  const JobSpec& spec = sync->spec;
  const int count = static_cast<int>(indexes.size());
  const Json pod = PodOf(*sync->job, *sync->document, spec.indexed);
  std::vector<Json> pods;
  for (int index : indexes) {
    if (index == kUnknownIndex) {
      pods.push_back(pod);
      continue;
    }
    std::optional<IndexFailures> failures;
    if (spec.backoff_limit_per_index) failures = FailuresBefore(spec, sync->tally, index);
    pods.push_back(IndexedPodOf(pod, *sync->job, index, failures));
  }
  expectations_.ExpectCreations(sync->name, count);
  Decision decision{sync->job, "pods missing: " + std::to_string(count), sync->Saw()};
  Task<Created> creating = pod_control_.Create(std::move(decision), std::move(pods));
  Created created = co_await std::move(creating);
  for (int i = created.pods; i < count; ++i) expectations_.CreationObserved(sync->name);
  sync->active += created.pods;
  metrics_.PodsCreated(spec, sync->tally.failed, sync->terminating, created.pods, created.refused);
  co_return created.failure;
}

}  // namespace terrarium::controllers::job
