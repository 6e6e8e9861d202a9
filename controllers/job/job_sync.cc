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

  auto round = std::make_shared<Round>();
  round->name = name;
  round->state = state;
  round->job = job;
  round->document = document;
  round->spec = ReadJobSpec(*document, context_.env.gates);
  round->status = ReadJobStatus(*document);
  // Checked before the pods are read, so that a pod observed in between is among them.
  round->expectations_met = expectations_.Satisfied(name);
  const api::Time began = Now();
  Task<ReconcileResult> running = Run(round);
  ReconcileResult result = co_await std::move(running);
  metrics_.Synced(round->spec, result.ok(), round->action, Now() - began);
  co_return result;
}

Task<ReconcileResult> JobController::Run(RoundPtr round) {
  Task<api::Result<std::vector<JobPodPtr>>> claiming = Claim(round);
  api::Result<std::vector<JobPodPtr>> pods = co_await std::move(claiming);
  if (!pods) co_return pods.status();

  const JobSpec& spec = round->spec;
  JobStatus& status = round->status;
  round->tally =
      TallyOf(spec, status, std::move(*pods), round->state->finalizer_removals, round->state->carried);
  round->active = round->tally.counts.active();
  round->ready = round->tally.counts.ready();
  round->terminating = round->tally.counts.terminating();
  if (!status.start_time && !spec.suspended) status.start_time = WholeSeconds(Now());
  round->end = EndOf(spec, status, round->tally, Now());
  SetDeadline(*round);
  backoffs_.Cancel(round->name);

  Task<Outcome> acting = round->end ? EndPods(round) : KeepUp(round);
  Outcome to_retry = co_await std::move(acting);

  status.active = round->active;
  status.ready = round->ready;
  status.terminating.reset();
  if (spec.rules.reports_terminating) status.terminating = round->terminating;
  Task<ReconcileResult> tracking = Track(round);
  ReconcileResult tracked = co_await std::move(tracking);
  if (tracked.ok() && to_retry) co_return *to_retry;
  co_return tracked;
}

// Deletes the active pods of a Job that ends. They keep their finalizers, since they must be counted.
Task<JobController::Outcome> JobController::EndPods(RoundPtr round) {
  std::vector<PodControl::Target> targets;
  for (const JobPodPtr& pod : round->tally.pods)
    if (pod->facts().Active()) targets.push_back(PodControl::TargetOf(pod->facts(), false));
  Decision decision{round->job, "the Job ends: " + round->end->reason, round->Saw()};
  Task<Deleted> deleting = pod_control_.Delete(std::move(decision), std::move(targets));
  Deleted deleted = co_await std::move(deleting);
  // A finished Job would leave behind pods whose deletion failed or that are not in view yet.
  if (deleted.pods != round->active || !round->expectations_met) round->end.reset();
  round->active -= deleted.pods;
  round->ready -= deleted.ready;
  round->terminating += deleted.pods;
  co_return deleted.failure;
}

Task<JobController::Outcome> JobController::KeepUp(RoundPtr round) {
  Outcome to_retry;
  const bool manage = round->expectations_met && !round->Deleting();
  if (manage) {
    Task<Outcome> managing = Manage(round);
    to_retry = co_await std::move(managing);
  }
  if (IsComplete(round->spec, round->tally.succeeded, round->active)) {
    round->end = CompletionsReached(round->spec);
  } else if (manage) {
    SetSuspended(*round);
  }
  co_return to_retry;
}

void JobController::SetSuspended(Round& round) {
  const bool suspended = round.spec.suspended;
  Condition condition{std::string(kSuspended), suspended ? "JobSuspended" : "JobResumed",
                      suspended ? "Job suspended" : "Job resumed"};
  if (!EnsureCondition(round.status, condition, suspended, Now())) return;
  pod_control_.Tell(*round.job, kNormal, suspended ? "Suspended" : "Resumed", condition.message);
  // activeDeadlineSeconds limits the time that a Job is active without interruption.
  round.status.start_time.reset();
  if (!suspended) round.status.start_time = WholeSeconds(Now());
}

void JobController::SetDeadline(const Round& round) {
  std::optional<api::Duration> left;
  if (!round.end) left = DeadlineLeft(round.spec, round.status, Now());
  if (left) {
    deadlines_.Set(round.name, *left);
  } else {
    deadlines_.Cancel(round.name);
  }
}

}  // namespace terrarium::controllers::job
