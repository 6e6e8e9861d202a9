#pragma once

// Metrics of the Job controller: names, labels and buckets of pkg/controller/job/metrics, v1.36.

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/object.h"
#include "controllers/job/internal/failure_policy.h"
#include "controllers/job/internal/job_spec.h"
#include "controllers/job/internal/job_status.h"
#include "controllers/runtime/metrics.h"

namespace terrarium::controllers::job {

// What a sync did, label `action`.
inline constexpr std::string_view kReconciling = "reconciling";
inline constexpr std::string_view kTracking = "tracking";
inline constexpr std::string_view kPodsCreated = "pods_created";
inline constexpr std::string_view kPodsDeleted = "pods_deleted";

class JobMetrics {
 public:
  explicit JobMetrics(Metrics& metrics);
  ~JobMetrics();

  void Synced(const JobSpec& spec, bool succeeded, std::string_view action, api::Duration took);
  void JobFinished(const JobSpec& spec, const Condition& condition);
  void ManagedElsewhere(std::string_view controller);
  // The counters of a status that was written, against those of the one before.
  void StatusWritten(const JobSpec& spec, const JobStatus& before, const JobStatus& after);
  void FailuresHandled(const std::map<FailureAction, int>& by_action);
  // `failed_before`, `terminating`: of the Job, which say what the pods were made for.
  void PodsCreated(const JobSpec& spec, int failed_before, int terminating, int succeeded, int failed);
  void StaleSyncSkipped();
  // A version of a pod came after another; nullptr: there was or is none.
  void PodSeen(const api::Object* before, const api::Object* after);

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace terrarium::controllers::job
