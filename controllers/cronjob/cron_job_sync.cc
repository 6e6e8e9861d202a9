// One sync of a CronJob, step by step. Mirrors syncCronJob of pkg/controller/cronjob/cronjob_controllerv2.go,
// v1.36.

#include <chrono>
#include <set>
#include <string_view>
#include <utility>

#include <prometheus/histogram.h>

#include "api/base/field_error.h"
#include "api/json_access.h"
#include "controllers/cronjob/internal/cron_job_controller.h"
#include "controllers/cronjob/internal/job_template.h"

namespace terrarium::controllers::cronjob {

using api::Json;
using api::Task;

Task<ReconcileResult> CronJobController::Sync(ObjectName name) {
  const ObjectPtr cron_job = cron_jobs_.Get(name);
  if (cron_job == nullptr) co_return Reconciled::Done();
  auto sync = std::make_shared<SyncState>(cron_job, JobsOf(name), Now());
  // A deletion that fails is reported and tried again by a later sync.
  Task<void> deleting = DeleteSurplus(sync);
  co_await std::move(deleting);
  Task<Outcome> running = Run(sync);
  const Outcome outcome = co_await std::move(running);
  Task<Failure> writing = WriteStatus(sync);
  Failure not_written = co_await std::move(writing);
  if (not_written) co_return std::move(*not_written);
  if (outcome.failure) co_return *outcome.failure;
  if (outcome.wait) SyncAfter(name, *outcome.wait);
  co_return Reconciled::Done();
}

Task<CronJobController::Outcome> CronJobController::Run(SyncStatePtr sync) {
  if (Failure failure = NoticeJobs(*sync)) co_return Outcome{std::move(failure), {}};
  if (Failure failure = ForgetMissingJobs(*sync)) co_return Outcome{std::move(failure), {}};
  if (sync->cron_job->header().deleting) co_return Outcome{};
  const std::optional<api::CronSchedule> schedule = UsableSchedule(*sync);
  if (!schedule) co_return Outcome{};
  sync->due = DueTimeOf(*schedule, sync->Since(), sync->spec.starting_deadline, sync->now);
  if (sync->due.never) {
    RecordEvent(*sync->cron_job, kWarning, "InvalidSchedule",
                "invalid schedule: " + sync->spec.schedule + " : " + kNeverDue);
    co_return Outcome{};
  }
  if (const std::optional<api::Time> scheduled = TimeToStart(*sync)) {
    if (sync->spec.policy == ConcurrencyPolicy::kReplace) {
      Task<Failure> deleting = DeleteActive(sync);
      Failure failure = co_await std::move(deleting);
      if (failure) co_return Outcome{std::move(failure), {}};
    }
    Task<Failure> starting = StartJob(sync, *scheduled);
    Failure failure = co_await std::move(starting);
    if (failure) co_return Outcome{std::move(failure), {}};
  }
  co_return Outcome{{}, WaitForNext(*schedule, sync->Since(), sync->now)};
}

// Removes finished Jobs from the active ones.
CronJobController::Failure CronJobController::NoticeJobs(SyncState& sync) {
  for (const ChildJob& job : sync.jobs) {
    if (!job.Finished()) {
      if (Failure failure = NoticeUnfinished(sync, job)) return failure;
      continue;
    }
    const bool succeeded = job.end == ChildJob::End::kComplete;
    if (sync.status.IsActive(job.uid)) {
      sync.status.RemoveActive(job.uid);
      RecordEvent(
          *sync.cron_job, kNormal, "SawCompletedJob",
          "Saw completed job: " + job.name.name + ", condition: " + (succeeded ? "Complete" : "Failed"));
    }
    if (succeeded && job.completion_time) sync.status.JobSucceeded(*job.completion_time);
  }
  return std::nullopt;
}

// A Job that the status does not have as active: the view may be older than the controller's own write. Else
// a user created it, or the controller crashed before it could write the status.
CronJobController::Failure CronJobController::NoticeUnfinished(SyncState& sync, const ChildJob& job) {
  if (sync.status.IsActive(job.uid)) return std::nullopt;
  api::Result<ObjectPtr> fresh = context_.client.Get("cronjobs", sync.cron_job->name());
  if (!fresh) return fresh.status();
  if (CronStatus(*(*fresh)->Document()).IsActive(job.uid)) {
    // DIVERGES: Kubernetes continues with this version too, but then writes the status of the older one,
    // which is refused, and syncs again.
    sync.Take(*fresh);
    return std::nullopt;
  }
  RecordEvent(*sync.cron_job, kWarning, "UnexpectedJob",
              "Saw a job that the controller did not create or forgot: " + job.name.name);
  return std::nullopt;
}

CronJobController::Failure CronJobController::ForgetMissingJobs(SyncState& sync) {
  std::set<std::string_view> present;
  for (const ChildJob& job : sync.jobs) present.insert(job.uid);
  for (const CronStatus::ActiveJob& active : sync.status.active()) {
    if (present.contains(active.uid)) continue;
    // A Job that was created a moment ago may not be in view yet.
    api::Result<ObjectPtr> fresh = context_.client.Get("jobs", active.name);
    if (fresh) continue;
    if (!fresh.status().Is(api::reason::kNotFound)) return fresh.status();
    RecordEvent(*sync.cron_job, kNormal, "MissingJob", "Active job went missing: " + active.name.name);
    sync.status.RemoveActive(active.uid);
  }
  return std::nullopt;
}

// The schedule, unless the CronJob cannot run or must not.
std::optional<api::CronSchedule> CronJobController::UsableSchedule(const SyncState& sync) {
  const CronSpec& spec = sync.spec;
  std::string error;
  if (spec.time_zone && !api::TimeZone::Load(*spec.time_zone, &error)) {
    RecordEvent(*sync.cron_job, kWarning, "UnknownTimeZone",
                "invalid timeZone: " + api::Quote(*spec.time_zone) + ": " + error);
    return std::nullopt;
  }
  if (spec.suspended) return std::nullopt;
  if (NamesZone(spec.schedule)) {
    RecordEvent(*sync.cron_job, kWarning, "UnsupportedSchedule",
                "CRON_TZ or TZ used in schedule " + api::Quote(spec.schedule) +
                    " is not officially supported, see "
                    "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details");
  }
  api::ParsedCronSchedule parsed = ScheduleOf(spec);
  if (!parsed) {
    RecordEvent(*sync.cron_job, kWarning, "UnparseableSchedule",
                "unparseable schedule: " + api::Quote(spec.schedule) + " : " + parsed.error);
  }
  return std::move(parsed.schedule);
}

// The scheduled time whose Job is to be started now, if there is one.
std::optional<api::Time> CronJobController::TimeToStart(const SyncState& sync) {
  const std::optional<api::Time> scheduled = sync.due.most_recent;
  if (!scheduled) return std::nullopt;
  if (sync.due.missed > kMissedMax) {
    RecordEvent(
        *sync.cron_job, kWarning, "TooManyMissedTimes",
        "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew");
  }
  if (sync.spec.starting_deadline && *scheduled + *sync.spec.starting_deadline < sync.now) {
    RecordEvent(*sync.cron_job, kWarning, "MissSchedule",
                "Missed scheduled time to start a job: " + FormatRfc1123(*scheduled));
    return std::nullopt;
  }
  const api::ObjectHeader& header = sync.cron_job->header();
  const ObjectName job{header.ns, JobNameOf(header.name, *scheduled)};
  if (sync.status.IsActive(job) || sync.status.last_schedule_time() == scheduled) return std::nullopt;
  if (sync.spec.policy == ConcurrencyPolicy::kForbid && sync.status.active_count() != 0) {
    RecordEvent(*sync.cron_job, kNormal, "JobAlreadyActive",
                "Not starting job because prior execution is running and concurrency policy is Forbid");
    return std::nullopt;
  }
  return scheduled;
}

Task<CronJobController::Failure> CronJobController::StartJob(SyncStatePtr sync, api::Time scheduled) {
  const api::TimeZone zone = api::TimeZone::Load(sync->spec.time_zone.value_or("")).value_or(api::TimeZone());
  Json body = JobOf(*sync->cron_job, *sync->document, scheduled, zone);
  const ObjectName name{sync->cron_job->header().ns, std::string(api::StringAt(body, "metadata", "name"))};
  api::Awaitable<api::Client::Written> creating = context_.client.Create("jobs", name.ns, std::move(body));
  api::Client::Written created = co_await std::move(creating);
  ObjectPtr job;
  if (created) {
    job = *created;
    const std::shared_ptr<const Json> document = job->Document();
    const api::Time at =
        api::ParseTime(api::StringAt(*document, "metadata", "creationTimestamp")).value_or(scheduled);
    creation_skew_.Observe(std::chrono::duration<double>(at - scheduled).count());
    RecordEvent(*sync->cron_job, kNormal, "SuccessfulCreate", "Created job " + name.name);
    Explain(*sync, "create", name, "scheduled for " + api::FormatTime(scheduled));
  } else if (created.status().Is(api::reason::kAlreadyExists)) {
    // DIVERGES: Kubernetes looks for the Job without a namespace and fails with 404 as long as it exists.
    api::Result<ObjectPtr> present = context_.client.Get("jobs", name);
    if (!present) co_return present.status();
    job = *present;
    const api::OwnerReference* controller = job->controller();
    // DIVERGES: where the name belongs to another Job, Kubernetes syncs the CronJob again only at its next
    // event, the informers' resync if need be. This one continues with the next scheduled time.
    if (controller == nullptr || controller->uid != sync->cron_job->header().uid) co_return std::nullopt;
    if (sync->status.IsActive(job->header().uid)) co_return std::nullopt;
  } else {
    if (!created.status().HasCause("NamespaceTerminating"))
      RecordEvent(*sync->cron_job, kWarning, "FailedCreate",
                  "Error creating job: " + created.status().message);
    co_return created.status();
  }
  sync->status.AddActive(*job);
  sync->status.set_last_schedule_time(scheduled);
  co_return std::nullopt;
}

Task<void> CronJobController::DeleteSurplus(SyncStatePtr sync) {
  const std::vector<Surplus> all = SurplusJobs(sync->jobs, sync->spec);
  for (const Surplus& surplus : all) {
    const bool succeeded = surplus.job->end == ChildJob::End::kComplete;
    std::string rule = std::string(succeeded ? "successful" : "failed") + "JobsHistoryLimit is " +
                       std::to_string(surplus.limit);
    Task<Failure> deleting = DeleteJob(sync, surplus.job->name, surplus.job->uid, std::move(rule));
    [[maybe_unused]] const Failure recorded = co_await std::move(deleting);
  }
}

// For the policy Replace.
Task<CronJobController::Failure> CronJobController::DeleteActive(SyncStatePtr sync) {
  const std::vector<CronStatus::ActiveJob> all = sync->status.active();
  for (const CronStatus::ActiveJob& active : all) {
    api::Result<ObjectPtr> job = context_.client.Get("jobs", active.name);
    if (!job) {
      RecordEvent(*sync->cron_job, kWarning, "FailedGet", "Get job: " + job.status().message);
      co_return job.status();
    }
    Task<Failure> deleting = DeleteJob(sync, active.name, (*job)->header().uid,
                                       "concurrencyPolicy is Replace, and the next run is due");
    Failure failure = co_await std::move(deleting);
    if (failure) co_return failure;
  }
  co_return std::nullopt;
}

Task<CronJobController::Failure> CronJobController::DeleteJob(SyncStatePtr sync, ObjectName job,
                                                              std::string uid, std::string rule) {
  // DIVERGES: Kubernetes deletes by name alone, which may be that of a newer Job.
  api::DeleteRequest options{.uid = uid, .propagation_policy = "Background"};
  api::Awaitable<api::Client::Written> deleting = context_.client.Delete("jobs", job, std::move(options));
  api::Client::Written deleted = co_await std::move(deleting);
  if (!deleted) {
    RecordEvent(*sync->cron_job, kWarning, "FailedDelete", "Deleted job: " + deleted.status().message);
    co_return deleted.status();
  }
  sync->status.RemoveActive(uid);
  RecordEvent(*sync->cron_job, kNormal, "SuccessfulDelete", "Deleted job " + job.name);
  Explain(*sync, "delete", job, std::move(rule));
  co_return std::nullopt;
}

// Writes the status if it has changed.
Task<CronJobController::Failure> CronJobController::WriteStatus(SyncStatePtr sync) {
  if (sync->status.json() == api::ObjectAt(*sync->document, "status")) co_return std::nullopt;
  Json cron_job = sync->cron_job->Parse();
  cron_job["status"] = sync->status.json();
  api::Awaitable<api::Client::Written> writing =
      context_.client.UpdateStatus("cronjobs", std::move(cron_job));
  api::Client::Written written = co_await std::move(writing);
  if (written || written.status().Is(api::reason::kNotFound)) co_return std::nullopt;
  co_return written.status();
}

}  // namespace terrarium::controllers::cronjob
