#pragma once

// Watches CronJobs and their Jobs, starts the Job of each scheduled time and deletes old Jobs. The decisions
// are in the other headers of this folder.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/base/task.h"
#include "api/json.h"
#include "controllers/controller.h"
#include "controllers/cronjob/internal/child_jobs.h"
#include "controllers/cronjob/internal/cron_spec.h"
#include "controllers/cronjob/internal/cron_status.h"
#include "controllers/cronjob/internal/due_time.h"
#include "controllers/runtime/controller_loop.h"
#include "controllers/runtime/key_timers.h"

namespace prometheus {
class Histogram;
}

namespace terrarium::controllers::cronjob {

class CronJobController : public std::enable_shared_from_this<CronJobController> {
 public:
  explicit CronJobController(const ControllerContext& context);

  // Registers with the informers, which may outlive this controller.
  void Watch();
  void Start() { loop_.Start(); }

 private:
  struct SyncState;
  using SyncStatePtr = std::shared_ptr<SyncState>;
  using Failure = std::optional<api::Status>;
  // An error to retry, or the time until the next sync; neither: the next event decides.
  struct Outcome {
    Failure failure;
    std::optional<api::Duration> wait;
  };

  // cron_job_controller.cc: handlers of informer events, and reports.
  void CronJobChanged(const api::Object& old, const ObjectPtr& cron_job);
  void JobSeen(const api::Object* old, const api::Object& job);
  void EnqueueController(const api::Object& job);
  std::vector<ChildJob> JobsOf(const ObjectName& cron_job) const;
  void SyncAfter(const ObjectName& name, api::Duration wait);
  void RecordEvent(const api::Object& cron_job, std::string_view type, std::string_view reason,
                   std::string message);
  void Explain(const SyncState& sync, std::string_view action, const ObjectName& job, std::string rule);

  // cron_job_sync.cc: one sync of a CronJob, step by step.
  api::Task<ReconcileResult> Sync(ObjectName name);
  api::Task<Outcome> Run(SyncStatePtr sync);
  Failure NoticeJobs(SyncState& sync);
  Failure NoticeUnfinished(SyncState& sync, const ChildJob& job);
  Failure ForgetMissingJobs(SyncState& sync);
  std::optional<api::CronSchedule> UsableSchedule(const SyncState& sync);
  std::optional<api::Time> TimeToStart(const SyncState& sync);
  api::Task<Failure> StartJob(SyncStatePtr sync, api::Time scheduled);
  api::Task<void> DeleteSurplus(SyncStatePtr sync);
  api::Task<Failure> DeleteActive(SyncStatePtr sync);
  api::Task<Failure> DeleteJob(SyncStatePtr sync, ObjectName job, std::string uid, std::string rule);
  api::Task<Failure> WriteStatus(SyncStatePtr sync);

  api::Time Now() const { return context_.env.clock.Now(); }

  ControllerContext context_;
  Informer& cron_jobs_;
  Informer& jobs_;
  prometheus::Histogram& creation_skew_;
  // Background timers: a CronJob that only waits for its next run is idle.
  KeyTimers next_runs_;
  ControllerLoop loop_;  // last member: its reconciles use all of the above
};

// One sync of a CronJob. It acts on the state that it read at its start, since everything may change at each
// co_await.
struct CronJobController::SyncState {
  SyncState(ObjectPtr read, std::vector<ChildJob> children, api::Time time)
      : jobs(std::move(children)), now(time) {
    Take(std::move(read));
  }
  // Continues with another version of the CronJob.
  void Take(ObjectPtr read);
  // The last scheduled time or, before the first run, the CronJob's creation.
  api::Time Since() const { return status.last_schedule_time().value_or(created); }

  ObjectPtr cron_job;
  std::shared_ptr<const api::Json> document;
  CronSpec spec;
  CronStatus status;  // to be written
  api::Time created{};
  std::vector<ChildJob> jobs;
  api::Time now;
  DueTime due;
};

}  // namespace terrarium::controllers::cronjob
