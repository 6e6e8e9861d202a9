#include <algorithm>
#include <utility>

#include "api/json_access.h"
#include "controllers/deployment/internal/annotations.h"
#include "controllers/deployment/internal/conditions.h"
#include "controllers/deployment/internal/deployment_controller.h"
#include "controllers/deployment/internal/progress.h"

namespace terrarium::controllers::deployment {
namespace {

using api::Json;
using api::Task;

// The ReplicaFailure condition to report: that of the newest template first. Null when there is none.
Json FailureOf(const SyncState& sync) {
  if (const ReplicaSetFacts* set = sync.new_set(); set != nullptr && !set->failure.is_null())
    return set->failure;
  for (const FactsPtr& set : sync.sets)
    if (!set->failure.is_null()) return set->failure;
  return nullptr;
}

// A merge patch that makes the status `next`: removed fields are null in it.
Json StatusPatch(const Json& old, Json next) {
  for (auto it = old.begin(); it != old.end(); ++it)
    if (!next.contains(it.key())) next[it.key()] = nullptr;
  return next;
}

}  // namespace

Json DeploymentController::NextStatus(const SyncState& sync, Judge judge) {
  const api::Time now = context_.env.clock.Now();
  Counters before = CountersOf(api::ObjectAt(*sync.document, "status"));
  if (auto watch = pod_watches_.find(sync.name); !before.terminating && watch != pod_watches_.end())
    before.terminating_pods = watch->second.terminating;
  const Counters counters = sync.CountNow();
  Json conditions = sync.conditions;
  JudgeAvailability(sync.size, counters, now, conditions);
  std::optional<api::Time> due;
  if (judge == Judge::kProgress) {
    Progress progress{.deployment = sync.size,
                      .generation = sync.generation(),
                      .name = sync.name.name,
                      .new_set = sync.new_set() == nullptr ? "" : sync.new_set()->name(),
                      .deadline = sync.progress_deadline(),
                      .before = before,
                      .now = counters};
    JudgeProgress(progress, now, conditions);
    CopyFailure(FailureOf(sync), conditions);
    due = FailsAt(progress, conditions);
  }
  SetDeadline(sync.name, due);
  return StatusOf(counters, sync.collision_count, std::move(conditions));
}

void DeploymentController::SetDeadline(const ObjectName& name, std::optional<api::Time> due) {
  if (due)
    deadlines_.Set(name, std::max(*due - context_.env.clock.Now(), api::Duration::zero()));
  else
    deadlines_.Cancel(name);
}

// A status that cannot hold the number cannot show that it has decreased.
void DeploymentController::NoteTerminating(const SyncState& sync) {
  auto watch = pod_watches_.find(sync.name);
  if (watch != pod_watches_.end()) watch->second.terminating = sync.CountNow().terminating_pods;
}

Task<ReconcileResult> DeploymentController::WriteStatus(SyncStatePtr sync, Judge judge) {
  Json status = NextStatus(*sync, judge);
  const Json& old = api::ObjectAt(*sync->document, "status");
  const bool new_revision =
      !sync->revision.empty() && api::StringAt(sync->annotations(), kRevision) != sync->revision;
  if (!terminating_.MustWrite(*sync->deployment, old, status) && !new_revision) {
    NoteTerminating(*sync);
    co_return Reconciled::Done();
  }
  Json patch = {{"metadata", {{"uid", sync->uid()}}}};
  if (new_revision) patch["metadata"]["annotations"][std::string(kRevision)] = sync->revision;
  patch["status"] = StatusPatch(old, status);
  api::Awaitable<api::Client::Written> patching =
      context_.client.Patch("deployments", sync->name, std::move(patch), "status", api::PatchKind::kMerge);
  api::Client::Written written = co_await std::move(patching);
  if (!written) {
    // It has gone, which is an event of its own.
    if (written.status().Is(api::reason::kNotFound)) co_return Reconciled::Done();
    co_return written.status();
  }
  terminating_.Written(**written, old, status);
  NoteTerminating(*sync);
  own_.DeploymentWritten(sync->uid(), (*written)->revision());
  co_return Reconciled::Done();
}

}  // namespace terrarium::controllers::deployment
