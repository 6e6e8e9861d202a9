// One sync of a StatefulSet, step by step. Mirrors the order of decisions of
// pkg/controller/statefulset/stateful_set_control.go, v1.36.

#include <algorithm>
#include <set>
#include <utility>

#include "api/json_access.h"
#include "controllers/runtime/owner_references.h"
#include "controllers/statefulset/internal/identity.h"
#include "controllers/statefulset/internal/statefulset_controller.h"

namespace terrarium::controllers::statefulset {
namespace {

using api::Json;
using api::Task;

constexpr api::Duration kStaleRetry = std::chrono::seconds(1);

// The numbers that all decisions of a sync are based on.
Json SawOf(const SetSpec& spec, const SetStatus& status, const SetPods& sorted) {
  Json saw = {{"replicas", spec.replicas},
              {"pods", status.replicas},
              {"ready", status.ready},
              {"available", status.available},
              {"unavailable", sorted.unavailable},
              {"podManagementPolicy", spec.parallel ? "Parallel" : "OrderedReady"},
              {"currentRevision", status.current_revision},
              {"updateRevision", status.update_revision}};
  if (spec.start != 0) saw["start"] = spec.start;
  if (spec.UpdateFrom() != 0) saw["partition"] = spec.UpdateFrom();
  if (spec.max_unavailable) saw["maxUnavailable"] = *spec.max_unavailable;
  return saw;
}

}  // namespace

Task<ReconcileResult> StatefulSetController::Sync(ObjectName name) {
  ObjectPtr set = sets_.Get(name);
  SetStatePtr state = set == nullptr ? nullptr : states_.Find(set->header().uid);
  if (state == nullptr) co_return Reconciled::Done();
  // DIVERGES: Kubernetes retries such a sync with backoff; here the event that it waits for enqueues the set.
  state->awaits_view = !SeesOwnWrites(*state, *set);
  if (state->awaits_view) {
    stale_.Set(name, kStaleRetry, api::TimerKind::kBackground);
    co_return Reconciled::Done();
  }
  stale_.Cancel(name);

  auto sync = std::make_shared<SyncState>();
  sync->state = state;
  sync->set = set;
  sync->document = set->Document();
  sync->spec = ReadSetSpec(*sync->document, context_.env.gates);
  sync->now = context_.env.clock.Now();
  Task<ReconcileResult> running = Run(sync);
  ReconcileResult result = co_await std::move(running);
  co_return result;
}

Task<ReconcileResult> StatefulSetController::Run(SyncPtr sync) {
  Task<api::Result<std::vector<ObjectPtr>>> claiming = history_.Claim(sync->set, sync->state->selector);
  api::Result<std::vector<ObjectPtr>> revisions = co_await std::move(claiming);
  if (!revisions) co_return revisions.status();
  sync->revisions = std::move(*revisions);
  for (const ObjectPtr& revision : sync->revisions)
    sync->state->revisions_written = std::max(sync->state->revisions_written, revision->revision());

  Task<api::Result<void>> claiming_pods = ClaimPods(sync);
  api::Result<void> claimed = co_await std::move(claiming_pods);
  if (!claimed) co_return claimed.status();
  Task<api::Result<void>> finding = FindRevisions(sync);
  api::Result<void> found = co_await std::move(finding);
  if (!found) co_return found.status();

  SetStatus& status = sync->status;
  status.observed_generation = api::IntAt(*sync->document, 0, "metadata", "generation");
  status.current_revision = sync->current->header().name;
  status.update_revision = sync->update->header().name;
  sync->sorted = SortPods(sync->Name(), sync->spec, sync->pods, sync->now);
  CountPods(status, sync->spec, sync->pods, sync->now);
  sync->saw = std::make_shared<const Json>(SawOf(sync->spec, status, sync->sorted));

  Outcome outcome;
  // A set that is being deleted leaves its pods to the garbage collector.
  if (!sync->set->header().deleting) {
    Task<Outcome> acting = Act(sync);
    outcome = co_await std::move(acting);
  }
  CompleteUpdate(status, sync->spec);
  metrics_.MaxUnavailable(sync->set->name(), sync->spec);
  Task<api::Result<void>> writing = WriteStatus(sync);
  api::Result<void> written = co_await std::move(writing);
  Task<api::Result<void>> truncating = TruncateHistory(sync);
  api::Result<void> truncated = co_await std::move(truncating);
  AwaitNextAvailable(*sync);
  if (outcome.error) co_return *outcome.error;
  if (!written) co_return written.status();
  if (!truncated) co_return truncated.status();
  co_return Reconciled::Done();
}

// Adopts orphans that the set selects, and releases pods that it does not select or that are not named like
// its pods. Adopted pods count in the same sync.
Task<api::Result<void>> StatefulSetController::ClaimPods(SyncPtr sync) {
  SetState& state = *sync->state;
  auto belongs = [set = sync->Name(), selector = state.selector](const api::Object& pod) {
    return IsMember(set, pod.header().name) && selector.Matches(pod.header());
  };
  std::vector<ObjectPtr> candidates;
  for (const auto& [name, pod] : state.pods) {
    if (belongs(*pod->object))
      sync->pods.push_back(pod);
    else
      candidates.push_back(pod->object);
  }
  const std::set<std::string> adoptable = std::exchange(state.adoptable, {});
  for (const std::string& name : adoptable) {
    if (state.pods.contains(name)) continue;
    // Reads the live pod: one that was adopted but not observed yet is not adopted again.
    api::Result<ObjectPtr> orphan = context_.client.Get("pods", {state.name.ns, name});
    if (orphan && (*orphan)->controller() == nullptr && belongs(**orphan)) candidates.push_back(*orphan);
  }
  if (candidates.empty() || sync->set->header().deleting) co_return api::Result<void>();
  Claimant claimant{.owner = sync->set,
                    .api_version = "apps/v1",
                    .kind = "StatefulSet",
                    .owner_resource = "statefulsets",
                    .selector = state.selector,
                    .finalizer = "",
                    .belongs = belongs};
  Task<api::Result<std::vector<ObjectPtr>>> claiming =
      ClaimObjects(context_.client, std::move(claimant), "pods", std::move(candidates));
  api::Result<std::vector<ObjectPtr>> claimed = co_await std::move(claiming);
  if (!claimed) {
    sync->state->adoptable.insert(adoptable.begin(), adoptable.end());
    co_return claimed.status();
  }
  for (const ObjectPtr& pod : *claimed) {
    sync->state->pods_written = std::max(sync->state->pods_written, pod->revision());
    sync->pods.push_back(std::make_shared<StatefulPod>(StatefulPod{FactsOf(*pod), pod}));
  }
  co_return api::Result<void>();
}

// Finds or creates the revision of the set's template, which pods are updated to, and the one that they are
// updated from.
Task<api::Result<void>> StatefulSetController::FindRevisions(SyncPtr sync) {
  const Json& document = *sync->document;
  sync->status.collision_count = api::IntAt(document, 0, "status", "collisionCount");
  Json data = history::TemplateData(document);
  std::vector<ObjectPtr> equal = history::FindEqual(sync->revisions, data);
  const std::int64_t next = history::NextNumber(sync->revisions);
  if (equal.empty()) {
    Json revision = history::NewRevision(*sync->set, document, "StatefulSet", std::move(data), next);
    Task<api::Result<history::RevisionHistory::Created>> creating =
        history_.CreateByData(std::move(revision), sync->Name(), sync->status.collision_count);
    api::Result<history::RevisionHistory::Created> created = co_await std::move(creating);
    if (!created) co_return created.status();
    sync->update = created->revision;
    sync->status.collision_count = created->collision_count;
  } else if (equal.back() == sync->revisions.back()) {
    sync->update = equal.back();
  } else {
    // The template is that of an earlier revision again: a rollback.
    Task<api::Client::Written> renumbering = history_.Renumber(equal.back(), next);
    api::Client::Written renumbered = co_await std::move(renumbering);
    if (!renumbered) co_return renumbered.status();
    sync->update = *renumbered;
  }
  SetState& state = *sync->state;
  state.revisions_written = std::max(state.revisions_written, sync->update->revision());

  const std::string_view stored = api::StringAt(document, "status", "currentRevision");
  auto current = std::find_if(sync->revisions.begin(), sync->revisions.end(),
                              [&](const ObjectPtr& each) { return each->header().name == stored; });
  sync->current = current == sync->revisions.end() ? sync->update : *current;
  co_return api::Result<void>();
}

Task<api::Result<void>> StatefulSetController::WriteStatus(SyncPtr sync) {
  ObjectPtr set = sync->set;
  for (bool again : {true, false}) {
    Json document = set->Parse();
    if (!MustWrite(api::ObjectAt(document, "status"), sync->status)) break;
    document["status"] = ToJson(sync->status);
    api::Awaitable<api::Client::Written> writing =
        context_.client.UpdateStatus("statefulsets", std::move(document));
    api::Client::Written written = co_await std::move(writing);
    if (written) {
      sync->state->set_written = (*written)->revision();
      break;
    }
    if (!again || !written.status().Is(api::reason::kConflict)) co_return written.status();
    api::Result<ObjectPtr> fresh = context_.client.Get("statefulsets", set->name());
    if (!fresh && !fresh.status().Is(api::reason::kNotFound)) co_return fresh.status();
    // The informer will report that the set is gone or replaced.
    if (!fresh || (*fresh)->header().uid != set->header().uid) break;
    set = *fresh;
  }
  co_return api::Result<void>();
}

Task<api::Result<void>> StatefulSetController::TruncateHistory(SyncPtr sync) {
  if (sync->spec.history_limit < 0) co_return api::Result<void>();
  std::set<std::string> live = {sync->current->header().name, sync->update->header().name};
  for (const StatefulPodPtr& pod : sync->pods) live.insert(pod->facts.revision);
  auto in_use = [&live](const api::Object& revision) { return live.contains(revision.header().name); };
  const auto unused =
      static_cast<std::size_t>(std::count_if(sync->revisions.begin(), sync->revisions.end(),
                                             [&](const ObjectPtr& revision) { return !in_use(*revision); }));
  const auto limit = static_cast<std::size_t>(sync->spec.history_limit);
  if (unused <= limit) co_return api::Result<void>();
  const std::vector<ObjectPtr> surplus = history::OldestUnused(sync->revisions, unused - limit, in_use);
  for (const ObjectPtr& revision : surplus) {
    Task<api::Result<void>> deleting = history_.Delete(revision);
    api::Result<void> deleted = co_await std::move(deleting);
    if (!deleted) co_return deleted;
  }
  co_return api::Result<void>();
}

void StatefulSetController::AwaitNextAvailable(const SyncState& sync) {
  const ObjectName& name = sync.set->name();
  std::optional<api::Time> next;
  for (const StatefulPodPtr& pod : sync.pods) {
    std::optional<api::Time> at = pod->facts.AvailableAt(sync.spec.min_ready, sync.now);
    if (at && (!next || *at < *next)) next = at;
  }
  if (!next || sync.state->set == nullptr) return available_.Cancel(name);
  available_.Set(name, std::max(*next - context_.env.clock.Now(), api::Duration::zero()));
}

PodClaims StatefulSetController::SyncState::ClaimsOf(const std::string& pod, const std::string& uid,
                                                     int ordinal, bool condemned) const {
  return {.document = document,
          .decision = {set, "claims of pod " + pod, saw},
          .ordinal = ordinal,
          .parties = {.set_name = Name(),
                      .set_uid = set->header().uid,
                      .pod_name = pod,
                      .pod_uid = uid,
                      .policy = spec.retention,
                      .pod_is_condemned = condemned}};
}

}  // namespace terrarium::controllers::statefulset
