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

// The failure that the Deployment speaks of: that of its newest template first. Null when there is none.
Json FailureOf(const Round& round) {
  if (const ReplicaSetFacts* set = round.new_set(); set != nullptr && !set->failure.is_null())
    return set->failure;
  for (const FactsPtr& set : round.sets)
    if (!set->failure.is_null()) return set->failure;
  return nullptr;
}

// A merge patch that makes the status `next`: what it has no more is taken away by name.
Json StatusPatch(const Json& old, Json next) {
  for (auto it = old.begin(); it != old.end(); ++it)
    if (!next.contains(it.key())) next[it.key()] = nullptr;
  return next;
}

}  // namespace

Json DeploymentController::NextStatus(const Round& round, Judge judge) {
  const api::Time now = context_.env.clock.Now();
  Counters before = CountersOf(api::ObjectAt(*round.document, "status"));
  if (auto watch = pod_watches_.find(round.name); !before.terminating && watch != pod_watches_.end())
    before.terminating_pods = watch->second.terminating;
  const Counters counters = round.CountNow();
  Json conditions = round.conditions;
  JudgeAvailability(round.size, counters, now, conditions);
  std::optional<api::Time> due;
  if (judge == Judge::kProgress) {
    Progress progress{.deployment = round.size,
                      .generation = round.generation(),
                      .name = round.name.name,
                      .new_set = round.new_set() == nullptr ? "" : round.new_set()->name(),
                      .deadline = round.progress_deadline(),
                      .before = before,
                      .now = counters};
    JudgeProgress(progress, now, conditions);
    CopyFailure(FailureOf(round), conditions);
    due = FailsAt(progress, conditions);
  }
  SetDeadline(round.name, due);
  return StatusOf(counters, round.collision_count, std::move(conditions));
}

void DeploymentController::SetDeadline(const ObjectName& name, std::optional<api::Time> due) {
  if (due)
    deadlines_.Set(name, std::max(*due - context_.env.clock.Now(), api::Duration::zero()));
  else
    deadlines_.Cancel(name);
}

// A status that cannot hold the number cannot show that it has decreased.
void DeploymentController::NoteTerminating(const Round& round) {
  auto watch = pod_watches_.find(round.name);
  if (watch != pod_watches_.end()) watch->second.terminating = round.CountNow().terminating_pods;
}

Task<ReconcileResult> DeploymentController::WriteStatus(RoundPtr round, Judge judge) {
  Json status = NextStatus(*round, judge);
  const Json& old = api::ObjectAt(*round->document, "status");
  const bool new_revision =
      !round->revision.empty() && api::StringAt(round->annotations(), kRevision) != round->revision;
  if (!terminating_.MustWrite(*round->deployment, old, status) && !new_revision) {
    NoteTerminating(*round);
    co_return Reconciled::Done();
  }
  Json patch = {{"metadata", {{"uid", round->uid()}}}};
  if (new_revision) patch["metadata"]["annotations"][std::string(kRevision)] = round->revision;
  patch["status"] = StatusPatch(old, status);
  api::Awaitable<api::Client::Written> patching =
      context_.client.Patch("deployments", round->name, std::move(patch), "status", api::PatchKind::kMerge);
  api::Client::Written written = co_await std::move(patching);
  if (!written) {
    // It has gone, which is an event of its own.
    if (written.status().Is(api::reason::kNotFound)) co_return Reconciled::Done();
    co_return written.status();
  }
  terminating_.Written(**written, old, status);
  NoteTerminating(*round);
  own_.DeploymentWritten(round->uid(), (*written)->revision());
  co_return Reconciled::Done();
}

}  // namespace terrarium::controllers::deployment
