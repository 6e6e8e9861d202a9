// One sync of a Job, step by step. Mirrors syncJob of pkg/controller/job/job_controller.go, v1.36.

#include <utility>

#include "controllers/job/internal/job_controller.h"

namespace terrarium::controllers::job {

using api::Json;
using api::Task;

Task<ReconcileResult> JobController::Sync(ObjectName name) {
  ObjectPtr job = jobs_.Get(name);
  StatePtr state = job == nullptr ? nullptr : states_.Find(job->header().uid);
  if (state == nullptr) co_return Reconciled::Done();
  std::shared_ptr<const Json> document = job->Document();
  if (state->finished || !ForeignManager(*document, context_.env.gates).empty()) co_return Reconciled::Done();
  if (job->revision() < state->written) {
    // The event of the last write enqueues the Job again.
    metrics_.StaleSyncSkipped();
    co_return Reconciled::Done();
  }

  auto sync = std::make_shared<SyncState>();
  sync->name = name;
  sync->state = state;
  sync->job = job;
  sync->document = document;
  sync->spec = ReadJobSpec(*document, context_.env.gates);
  sync->status = ReadJobStatus(*document);
  // Checked before the pods are read, so that a pod observed in between is among them.
  sync->expectations_met = expectations_.Satisfied(name);
  const api::Time began = Now();
  Task<ReconcileResult> running = Run(sync);
  ReconcileResult result = co_await std::move(running);
  metrics_.Synced(sync->spec, result.ok(), sync->action, Now() - began);
  co_return result;
}

Task<ReconcileResult> JobController::Run(SyncStatePtr sync) {
  Task<api::Result<std::vector<JobPodPtr>>> claiming = Claim(sync);
  api::Result<std::vector<JobPodPtr>> pods = co_await std::move(claiming);
  if (!pods) co_return pods.status();

  const JobSpec& spec = sync->spec;
  JobStatus& status = sync->status;
  sync->tally =
      TallyOf(spec, status, std::move(*pods), sync->state->finalizer_removals, sync->state->carried);
  sync->active = sync->tally.counts.active();
  sync->ready = sync->tally.counts.ready();
  sync->terminating = sync->tally.counts.terminating();
  if (!status.start_time && !spec.suspended) status.start_time = WholeSeconds(Now());
  sync->end = EndOf(spec, status, sync->tally, Now());
  SetDeadline(*sync);
  backoffs_.Cancel(sync->name);

  Task<Outcome> acting = sync->end ? EndPods(sync) : KeepUp(sync);
  Outcome to_retry = co_await std::move(acting);

  status.active = sync->active;
  status.ready = sync->ready;
  status.terminating.reset();
  if (spec.rules.reports_terminating) status.terminating = sync->terminating;
  Task<ReconcileResult> tracking = Track(sync);
  ReconcileResult tracked = co_await std::move(tracking);
  if (tracked.ok() && to_retry) co_return *to_retry;
  co_return tracked;
}

// Deletes the active pods of a Job that ends. They keep their finalizers, since they must be counted.
Task<JobController::Outcome> JobController::EndPods(SyncStatePtr sync) {
  std::vector<PodControl::Target> targets;
  for (const JobPodPtr& pod : sync->tally.pods)
    if (pod->facts().Active()) targets.push_back(PodControl::TargetOf(pod->facts(), false));
  Decision decision{sync->job, "the Job ends: " + sync->end->reason, sync->Saw()};
  Task<Deleted> deleting = pod_control_.Delete(std::move(decision), std::move(targets));
  Deleted deleted = co_await std::move(deleting);
  // A finished Job would leave behind pods whose deletion failed or that are not in view yet.
  if (deleted.pods != sync->active || !sync->expectations_met) sync->end.reset();
  sync->active -= deleted.pods;
  sync->ready -= deleted.ready;
  sync->terminating += deleted.pods;
  co_return deleted.failure;
}

Task<JobController::Outcome> JobController::KeepUp(SyncStatePtr sync) {
  Outcome to_retry;
  const bool manage = sync->expectations_met && !sync->Deleting();
  if (manage) {
    Task<Outcome> managing = Manage(sync);
    to_retry = co_await std::move(managing);
  }
  if (IsComplete(sync->spec, sync->tally.succeeded, sync->active)) {
    sync->end = CompletionsReached(sync->spec);
  } else if (manage) {
    SetSuspended(*sync);
  }
  co_return to_retry;
}

void JobController::SetSuspended(SyncState& sync) {
  const bool suspended = sync.spec.suspended;
  Condition condition{std::string(kSuspended), suspended ? "JobSuspended" : "JobResumed",
                      suspended ? "Job suspended" : "Job resumed"};
  if (!EnsureCondition(sync.status, condition, suspended, Now())) return;
  pod_control_.RecordEvent(*sync.job, kNormal, suspended ? "Suspended" : "Resumed", condition.message);
  // activeDeadlineSeconds limits the time that a Job is active without interruption.
  sync.status.start_time.reset();
  if (!suspended) sync.status.start_time = WholeSeconds(Now());
}

void JobController::SetDeadline(const SyncState& sync) {
  std::optional<api::Duration> left;
  if (!sync.end) left = DeadlineLeft(sync.spec, sync.status, Now());
  if (left) {
    deadlines_.Set(sync.name, *left);
  } else {
    deadlines_.Cancel(sync.name);
  }
}

}  // namespace terrarium::controllers::job
