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

Task<ReconcileResult> JobController::Track(SyncStatePtr sync) {
  Accounting accounting = Account(sync->spec, sync->tally, sync->end, sync->Deleting(), sync->status);
  AnnounceEnd(*sync);
  Task<Outcome> writing_down = WriteStatus(sync);
  Outcome failed = co_await std::move(writing_down);
  if (failed) co_return NotWritten(std::move(*failed));
  sync->state->carried.backoff = sync->tally.backoff;
  metrics_.FailuresHandled(accounting.by_policy);

  Task<Outcome> freeing = TakeFinalizersOff(sync, &accounting);
  Outcome not_freed = co_await std::move(freeing);
  CountWithoutFinalizer(accounting.with_finalizer, sync->status);
  const bool over = !not_freed && !accounting.full && EnactEnd(*sync);
  Task<Outcome> counting = WriteStatus(sync);
  failed = co_await std::move(counting);
  if (failed) co_return NotWritten(std::move(*failed));
  if (not_freed) co_return std::move(*not_freed);
  if (over) {
    const Condition& end = *sync->end;
    const bool complete = end.type == kComplete;
    if (complete && sync->spec.completions && sync->status.succeeded > *sync->spec.completions)
      pod_control_.RecordEvent(*sync->job, kWarning, "TooManySucceededPods",
                               "Too many succeeded pods running after completion count reached");
    pod_control_.RecordEvent(*sync->job, complete ? kNormal : kWarning, complete ? "Completed" : end.reason,
                             complete ? "Job completed" : end.message);
    metrics_.JobFinished(sync->spec, end);
  }
  co_return Reconciled::Done();
}

// Adds the interim condition to the status that is written before the finalizers are removed; from then on
// `end` is the terminal condition.
void JobController::AnnounceEnd(SyncState& sync) {
  if (!sync.end) return;
  if (sync.end->type == kFailureTarget) {
    AppendTrue(sync.status, *sync.end, Now());
    sync.end->type = kFailed;
  } else if (sync.end->type == kSuccessCriteriaMet) {
    if (!TrueCondition(sync.status, kSuccessCriteriaMet)) AppendTrue(sync.status, *sync.end, Now());
    sync.end->type = kComplete;
  }
}

// Sets the terminal condition, unless pods are still uncounted or terminating.
bool JobController::EnactEnd(SyncState& sync) {
  if (!sync.end || sync.status.Uncounted() > 0) return false;
  if (sync.spec.rules.delays_terminal_condition && sync.terminating > 0) return false;
  EnsureCondition(sync.status, *sync.end, true, Now());
  // DIVERGES: a Job that ends while it is suspended has no start time. API validation requires one of every
  // finished Job except a suspended one with 0 completions. Kubernetes retries the rejected write
  // indefinitely.
  const bool nothing_to_start = sync.spec.suspended && sync.spec.completions == 0;
  if (!sync.status.start_time && !nothing_to_start) sync.status.start_time = WholeSeconds(Now());
  if (sync.end->type == kComplete) sync.status.completion_time = WholeSeconds(Now());
  return true;
}

Task<JobController::Outcome> JobController::TakeFinalizersOff(SyncStatePtr sync, Accounting* accounting) {
  UidSet& awaited = sync->state->finalizer_removals;
  std::vector<std::string> uids;
  std::vector<api::WriteRequest> patches;
  for (const PodFacts* pod : accounting->finalizers_off) {
    uids.push_back(pod->uid);
    awaited.insert(pod->uid);
    patches.push_back(
        api::RequestToPatch("pods", ObjectName{sync->name.ns, pod->name}, TakeFinalizerOff(pod->uid), ""));
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
Task<JobController::Outcome> JobController::WriteStatus(SyncStatePtr sync) {
  std::shared_ptr<const Json> document = sync->job->Document();
  const Json& before = api::ObjectAt(*document, "status");
  Json after = WithStatus(before, sync->status);
  if (after == before) co_return std::nullopt;
  Json job = sync->job->Parse();
  job["status"] = std::move(after);
  api::Awaitable<api::Client::Written> writing = context_.client.UpdateStatus("jobs", std::move(job));
  api::Client::Written written = co_await std::move(writing);
  if (!written) co_return written.status();
  metrics_.StatusWritten(sync->spec, ReadJobStatus(*document), sync->status);
  sync->job = *written;
  sync->state->written = (*written)->revision();
  co_return std::nullopt;
}

}  // namespace terrarium::controllers::job
