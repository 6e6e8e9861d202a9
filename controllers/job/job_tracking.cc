// Counts pods and writes the status. Mirrors trackJobStatusAndRemoveFinalizers of
// pkg/controller/job/job_controller.go, v1.36.

#include <utility>

#include "api/json_access.h"
#include "api/write_request.h"
#include "controllers/job/internal/job_controller.h"
#include "controllers/job/internal/pod_template.h"
#include "controllers/runtime/send_all.h"

namespace terrarium::controllers::job {
namespace {

using api::Json;
using api::Task;
using Answers = std::vector<api::Client::Written>;

// A failed status write is retried unless the Job is gone: then OrphanPods removes the finalizers of its
// pods.
ReconcileResult NotWritten(api::Status status) {
  if (status.Is(api::reason::kNotFound)) return Reconciled::Done();
  return status;
}

}  // namespace

Task<ReconcileResult> JobController::Track(RoundPtr round) {
  Accounting accounting = Account(round->spec, round->tally, round->end, round->Deleting(), round->status);
  AnnounceEnd(*round);
  Task<Outcome> writing_down = WriteStatus(round);
  Outcome failed = co_await std::move(writing_down);
  if (failed) co_return NotWritten(std::move(*failed));
  round->state->carried.backoff = round->tally.backoff;
  metrics_.FailuresHandled(accounting.by_policy);

  Task<Outcome> freeing = TakeFinalizersOff(round, &accounting);
  Outcome not_freed = co_await std::move(freeing);
  CountWithoutFinalizer(accounting.with_finalizer, round->status);
  const bool over = !not_freed && !accounting.full && EnactEnd(*round);
  Task<Outcome> counting = WriteStatus(round);
  failed = co_await std::move(counting);
  if (failed) co_return NotWritten(std::move(*failed));
  if (not_freed) co_return std::move(*not_freed);
  if (over) {
    const Condition& end = *round->end;
    const bool complete = end.type == kComplete;
    if (complete && round->spec.completions && round->status.succeeded > *round->spec.completions)
      pod_control_.Tell(*round->job, kWarning, "TooManySucceededPods",
                        "Too many succeeded pods running after completion count reached");
    pod_control_.Tell(*round->job, complete ? kNormal : kWarning, complete ? "Completed" : end.reason,
                      complete ? "Job completed" : end.message);
    metrics_.JobFinished(round->spec, end);
  }
  co_return Reconciled::Done();
}

// Adds the interim condition to the status that is written before the finalizers are removed; from then on
// `end` is the terminal condition.
void JobController::AnnounceEnd(Round& round) {
  if (!round.end) return;
  if (round.end->type == kFailureTarget) {
    AppendTrue(round.status, *round.end, Now());
    round.end->type = kFailed;
  } else if (round.end->type == kSuccessCriteriaMet) {
    if (!TrueCondition(round.status, kSuccessCriteriaMet)) AppendTrue(round.status, *round.end, Now());
    round.end->type = kComplete;
  }
}

// Sets the terminal condition, unless pods are still uncounted or terminating.
bool JobController::EnactEnd(Round& round) {
  if (!round.end || round.status.Uncounted() > 0) return false;
  if (round.spec.rules.delays_terminal_condition && round.terminating > 0) return false;
  EnsureCondition(round.status, *round.end, true, Now());
  // DIVERGES: a Job that ends while it is suspended has no start time. API validation requires one of every
  // finished Job except a suspended one with 0 completions. Kubernetes retries the rejected write
  // indefinitely.
  const bool nothing_to_start = round.spec.suspended && round.spec.completions == 0;
  if (!round.status.start_time && !nothing_to_start) round.status.start_time = WholeSeconds(Now());
  if (round.end->type == kComplete) round.status.completion_time = WholeSeconds(Now());
  return true;
}

Task<JobController::Outcome> JobController::TakeFinalizersOff(RoundPtr round, Accounting* accounting) {
  UidSet& awaited = round->state->finalizer_removals;
  std::vector<std::string> uids;
  std::vector<api::WriteRequest> patches;
  for (const PodFacts* pod : accounting->finalizers_off) {
    uids.push_back(pod->uid);
    awaited.insert(pod->uid);
    patches.push_back(
        api::RequestToPatch("pods", ObjectName{round->name.ns, pod->name}, TakeFinalizerOff(pod->uid), ""));
  }
  api::Awaitable<Answers> patching = SendAll(context_.client, std::move(patches));
  Answers answers = co_await std::move(patching);
  Outcome failed;
  for (std::size_t i = 0; i < uids.size(); ++i) {
    if (answers[i].ok()) {
      accounting->with_finalizer.erase(uids[i]);
      continue;
    }
    // No event will report the removal.
    awaited.erase(uids[i]);
    if (answers[i].status().Is(api::reason::kNotFound)) {
      accounting->with_finalizer.erase(uids[i]);
    } else if (!failed) {
      failed = answers[i].status();
    }
  }
  co_return failed;
}

// Writes the status if it differs from the Job's.
Task<JobController::Outcome> JobController::WriteStatus(RoundPtr round) {
  std::shared_ptr<const Json> document = round->job->Document();
  const Json& before = api::ObjectAt(*document, "status");
  Json after = WithStatus(before, round->status);
  if (after == before) co_return std::nullopt;
  Json job = round->job->Parse();
  job["status"] = std::move(after);
  api::Awaitable<api::Client::Written> writing = context_.client.UpdateStatus("jobs", std::move(job));
  api::Client::Written written = co_await std::move(writing);
  if (!written) co_return written.status();
  metrics_.StatusWritten(round->spec, ReadJobStatus(*document), round->status);
  round->job = *written;
  round->state->written = (*written)->revision();
  co_return std::nullopt;
}

}  // namespace terrarium::controllers::job
