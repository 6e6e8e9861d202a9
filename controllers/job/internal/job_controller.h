#pragma once

// Watches Jobs and their pods, and runs each Job: claims pods, maintains or ends the active ones, counts
// finished ones, and writes the status. The decisions are in the other headers of this folder.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/base/task.h"
#include "api/json.h"
#include "controllers/controller.h"
#include "controllers/job/internal/accounting.h"
#include "controllers/job/internal/job_metrics.h"
#include "controllers/job/internal/job_spec.h"
#include "controllers/job/internal/job_states.h"
#include "controllers/job/internal/job_status.h"
#include "controllers/job/internal/orphan_pods.h"
#include "controllers/job/internal/pod_control.h"
#include "controllers/job/internal/tally.h"
#include "controllers/runtime/controller_loop.h"
#include "controllers/runtime/expectations.h"
#include "controllers/runtime/key_timers.h"
#include "controllers/runtime/selector_index.h"

namespace terrarium::controllers::job {

// Pod events and the controller's own status writes are batched for this long, so that many of them cause one
// sync.
inline constexpr api::Duration kBatchPeriod = std::chrono::seconds(1);
// The most pods created or deleted in one sync.
inline constexpr int kPodsAtATimeMax = 500;

class JobController : public std::enable_shared_from_this<JobController> {
 public:
  explicit JobController(const ControllerContext& context);

  // Registers with the informers, which may outlive this controller.
  void Watch();
  void Start();

 private:
  using StatePtr = JobStates::StatePtr;
  using Outcome = std::optional<api::Status>;  // the error to retry, if any
  struct SyncState;
  using SyncStatePtr = std::shared_ptr<SyncState>;

  // job_controller.cc: handlers of informer events.
  void JobSeen(const api::Object* old, const ObjectPtr& job);
  void JobGone(const api::Object& job);
  void PodSeen(const api::Object* old, const ObjectPtr& pod);
  void ControlledPodSeen(bool is_new, const std::string& job_uid, const ObjectName& job, JobPodPtr pod);
  void OrphanSeen(const api::Object* old, const api::Object& pod);
  void PodGone(const api::Object& pod);
  void RemovePodFromJob(const StatePtr& state, const ObjectName& pod, const std::string& uid);
  void SyncLater(const JobState& state);
  void ReleasePods(const JobState& state);

  // job_sync.cc: one sync of a Job, step by step.
  api::Task<ReconcileResult> Sync(ObjectName name);
  api::Task<ReconcileResult> Run(SyncStatePtr sync);
  api::Task<Outcome> EndPods(SyncStatePtr sync);
  api::Task<Outcome> KeepUp(SyncStatePtr sync);
  void SetSuspended(SyncState& sync);
  void SetDeadline(const SyncState& sync);

  // job_pods.cc: claiming, creating and deleting pods.
  api::Task<api::Result<std::vector<JobPodPtr>>> Claim(SyncStatePtr sync);
  api::Task<Outcome> Manage(SyncStatePtr sync);
  api::Task<Outcome> DeletePods(SyncStatePtr sync, std::string rule, std::vector<const PodFacts*> pods);
  api::Task<Outcome> CreatePods(SyncStatePtr sync, std::vector<int> indexes);
  std::optional<std::vector<int>> IndexesToCreate(const SyncState& sync, int missing);

  // job_tracking.cc: counting pods and writing the status.
  api::Task<ReconcileResult> Track(SyncStatePtr sync);
  api::Task<Outcome> TakeFinalizersOff(SyncStatePtr sync, Accounting* accounting);
  api::Task<Outcome> WriteStatus(SyncStatePtr sync);
  void AnnounceEnd(SyncState& sync);
  bool EnactEnd(SyncState& sync);

  api::Time Now() const { return context_.env.clock.Now(); }

  ControllerContext context_;
  Informer& jobs_;
  Informer& pods_;
  JobMetrics metrics_;
  JobStates states_;
  SelectorIndex selectors_;
  Expectations expectations_;
  PodControl pod_control_;
  OrphanPods orphans_;
  // Separate from the queue's timers, since they are cancelled when their Job ends: the control plane need
  // not wait for the deadline of a complete Job before it is idle.
  KeyTimers deadlines_;
  KeyTimers backoffs_;
  ControllerLoop loop_;  // last member: its reconciles use all of the above
};

// One sync of a Job. It acts on the state that it read at its start, since everything may change at each
// co_await.
struct JobController::SyncState {
  ObjectName name;
  StatePtr state;
  ObjectPtr job;
  std::shared_ptr<const api::Json> document;  // of the Job at the start of the sync; the spec points into it
  JobSpec spec;
  JobStatus status;  // to be written
  bool expectations_met = false;
  std::string_view action = kReconciling;

  Tally tally;
  std::optional<Condition> end;
  // The pod counts after the writes of this sync.
  int active = 0;
  int ready = 0;
  int terminating = 0;

  bool Deleting() const { return job->header().deleting; }
  // The pod counts that a decision was based on, for the why record.
  std::shared_ptr<const api::Json> Saw() const;
};

}  // namespace terrarium::controllers::job
