#include "controllers/cronjob/cron_job_controller.h"

#include <utility>

#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "api/json_access.h"
#include "controllers/cronjob/internal/cron_job_controller.h"

namespace terrarium::controllers::cronjob {
namespace {

using api::Json;

constexpr const char* kName = "cronjob-controller";
constexpr const char* kJobsIndex = "jobs by the name of their controller, for CronJobs";

prometheus::Histogram& CreationSkew(Metrics& metrics) {
  prometheus::Histogram::BucketBoundaries bounds;
  for (double bound = 1; bounds.size() < 10; bound *= 2) bounds.push_back(bound);
  return prometheus::BuildHistogram()
      .Name("cronjob_controller_job_creation_skew_duration_seconds")
      .Help("Time between when a cronjob is scheduled to be run, and when the corresponding job is created")
      .Register(metrics.registry())
      .Add({}, bounds);
}

bool SameSchedule(const Json& a, const Json& b) {
  const auto zone = [](const Json& document) {
    const Json* name = api::Find(document, "spec", "timeZone");
    return name == nullptr ? Json() : *name;
  };
  return api::StringAt(a, "spec", "schedule") == api::StringAt(b, "spec", "schedule") && zone(a) == zone(b);
}

const char* TextOf(ConcurrencyPolicy policy) {
  switch (policy) {
    case ConcurrencyPolicy::kAllow: return "Allow";
    case ConcurrencyPolicy::kForbid: return "Forbid";
    case ConcurrencyPolicy::kReplace: return "Replace";
  }
  return "";
}

}  // namespace

CronJobController::CronJobController(const ControllerContext& context)
    : context_(context),
      cron_jobs_(context.informers.For("cronjobs")),
      jobs_(context.informers.For("jobs")),
      creation_skew_(CreationSkew(context.metrics)),
      next_runs_(context.env, [this](const ObjectName& name) { loop_.queue().Add(name); }),
      loop_(context.env, context.metrics, LoopOptions{.name = "cronjob", .workers = 5},
            [this](ObjectName name) { return Sync(std::move(name)); }) {}

void CronJobController::Watch() {
  std::weak_ptr<CronJobController> weak = weak_from_this();
  EventHandler cron_jobs;
  cron_jobs.added = [weak](const ObjectPtr& cron_job) {
    if (auto self = weak.lock()) self->loop_.queue().Add(cron_job->name());
  };
  cron_jobs.updated = [weak](const ObjectPtr& old, const ObjectPtr& cron_job) {
    if (auto self = weak.lock()) self->CronJobChanged(*old, cron_job);
  };
  cron_jobs.deleted = [weak](const ObjectPtr& cron_job) {
    if (auto self = weak.lock()) self->next_runs_.Cancel(cron_job->name());
  };
  cron_jobs_.AddHandler(std::move(cron_jobs));
  EventHandler jobs;
  jobs.added = [weak](const ObjectPtr& job) {
    if (auto self = weak.lock()) self->JobSeen(nullptr, *job);
  };
  jobs.updated = [weak](const ObjectPtr& old, const ObjectPtr& job) {
    if (auto self = weak.lock()) self->JobSeen(old.get(), *job);
  };
  jobs.deleted = [weak](const ObjectPtr& job) {
    if (auto self = weak.lock()) self->JobSeen(nullptr, *job);
  };
  jobs_.AddIndex(kJobsIndex, [](const api::Object& job) -> std::vector<std::string> {
    if (job.controller() == nullptr) return {};
    return {ObjectName{job.header().ns, job.controller()->name}.String()};
  });
  jobs_.AddHandler(std::move(jobs));
}

// A new schedule moves the next sync. Any other change is synced now.
void CronJobController::CronJobChanged(const api::Object& old, const ObjectPtr& cron_job) {
  const SyncState changed(cron_job, {}, Now());
  if (SameSchedule(*old.Document(), *changed.document)) return loop_.queue().Add(cron_job->name());
  const api::ParsedCronSchedule parsed = ScheduleOf(changed.spec);
  if (!parsed) {
    RecordEvent(*cron_job, kWarning, "UnParseableCronJobSchedule",
                "unparseable schedule for cronjob: " + changed.spec.schedule);
    return;
  }
  SyncAfter(cron_job->name(), WaitForNext(*parsed.schedule, changed.Since(), Now()));
}

void CronJobController::JobSeen(const api::Object* old, const api::Object& job) {
  const api::OwnerReference* before = old == nullptr ? nullptr : old->controller();
  const api::OwnerReference* now = job.controller();
  const bool moved = before != nullptr && (now == nullptr || !(*before == *now));
  if (moved) EnqueueController(*old);
  EnqueueController(job);
}

void CronJobController::EnqueueController(const api::Object& job) {
  const api::OwnerReference* controller = job.controller();
  if (controller == nullptr || controller->kind != "CronJob") return;
  const ObjectPtr cron_job = cron_jobs_.Get({job.header().ns, controller->name});
  if (cron_job != nullptr && cron_job->header().uid == controller->uid) loop_.queue().Add(cron_job->name());
}

// As in Kubernetes the controller's name counts, whatever its kind and uid.
std::vector<ChildJob> CronJobController::JobsOf(const ObjectName& cron_job) const {
  std::vector<ChildJob> jobs;
  for (const ObjectPtr& job : jobs_.ByIndex(kJobsIndex, cron_job.String()))
    jobs.push_back(ReadChildJob(*job));
  return jobs;
}

void CronJobController::SyncAfter(const ObjectName& name, api::Duration wait) {
  if (wait <= api::Duration::zero()) {
    loop_.queue().Add(name);
  } else {
    next_runs_.SetIfEarlier(name, wait, api::TimerKind::kBackground);
  }
}

void CronJobController::RecordEvent(const api::Object& cron_job, std::string_view type,
                                    std::string_view reason, std::string message) {
  context_.recorder.Record({.component = kName}, ReferenceTo(cron_job, "batch/v1", "CronJob"), type, reason,
                           std::move(message));
}

void CronJobController::Explain(const SyncState& sync, std::string_view action, const ObjectName& job,
                                std::string rule) {
  Json saw = {{"schedule", sync.spec.schedule},
              {"concurrencyPolicy", TextOf(sync.spec.policy)},
              {"active", sync.status.active_count()},
              {"missed", sync.due.missed}};
  if (sync.spec.time_zone) saw["timeZone"] = *sync.spec.time_zone;
  if (const auto last = sync.status.last_schedule_time()) saw["lastScheduleTime"] = api::FormatTime(*last);
  context_.why.Record({.time = Now(),
                       .revision = cron_jobs_.Revision(),
                       .controller = kName,
                       .action = std::string(action),
                       .resource = "jobs",
                       .object = job,
                       .owner_resource = "cronjobs",
                       .owner = sync.cron_job->name(),
                       .rule = std::move(rule),
                       .saw = std::make_shared<const Json>(std::move(saw))});
}

void CronJobController::SyncState::Take(ObjectPtr read) {
  cron_job = std::move(read);
  document = cron_job->Document();
  spec = ReadCronSpec(*document);
  status = CronStatus(*document);
  created = api::ParseTime(api::StringAt(*document, "metadata", "creationTimestamp")).value_or(now);
}

}  // namespace terrarium::controllers::cronjob

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeCronJobController(const ControllerContext& context) {
  return std::make_unique<SharedController<cronjob::CronJobController>>(context);
}

}  // namespace terrarium::controllers
