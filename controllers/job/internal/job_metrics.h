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

// Values of the label `action`: what a sync did.
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
  // Counts the changes from one written status to the next.
  void StatusWritten(const JobSpec& spec, const JobStatus& before, const JobStatus& after);
  void FailuresHandled(const std::map<FailureAction, int>& by_action);
  // `failed_before`, `terminating`: counts of the Job that determine the reason of the creation.
  void PodsCreated(const JobSpec& spec, int failed_before, int terminating, int succeeded, int failed);
  void StaleSyncSkipped();
  // A pod has changed; nullptr: it did not exist before, or no longer exists.
  void PodSeen(const api::Object* before, const api::Object* after);

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace terrarium::controllers::job
