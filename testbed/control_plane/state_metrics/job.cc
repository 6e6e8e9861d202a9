#include "api/json_access.h"
#include "testbed/control_plane/state_metrics/internal/family.h"

namespace terrarium::testbed::state_metrics {
namespace {

using api::Json;

template <typename See>
void EachCondition(const Json& job, std::string_view type, See see) {
  for (const Json& condition : api::ListAt(job, "status", "conditions")) {
    if (api::StringAt(condition, "type") == type) see(condition);
  }
}

void Info(const Family&, const Json&, Samples& samples) { samples.Add(1); }

// Of a Job that failed for one of the reasons below, 1 for that reason and 0 for the others; of any other,
// the number of its failed pods.
void Failed(const Family&, const Json& job, Samples& samples) {
  const std::int64_t failed = api::IntAt(job, 0, "status", "failed");
  if (failed == 0) {
    samples.Add(0);
    return;
  }
  bool known = false;
  EachCondition(job, "Failed", [&](const Json& condition) {
    for (std::string_view reason : {"BackoffLimitExceeded", "DeadlineExceeded", "Evicted"}) {
      const bool is = api::StringAt(condition, "reason") == reason;
      known = known || is;
      samples.Add(is ? 1 : 0, {{"reason", reason}});
    }
  });
  if (!known) samples.Add(failed, {{"reason", ""}});
}

void StatusOf(std::string_view type, const Json& job, Samples& samples) {
  EachCondition(job, type, [&](const Json& condition) {
    EachStatus(api::StringAt(condition, "status"), [&](std::string_view status, int value) {
      samples.Add(value, {{"condition", status}});
    });
  });
}

void HasCompleted(const Family&, const Json& job, Samples& samples) { StatusOf("Complete", job, samples); }
void HasFailed(const Family&, const Json& job, Samples& samples) { StatusOf("Failed", job, samples); }

void Suspended(const Family&, const Json& job, Samples& samples) {
  EachCondition(job, "Suspended", [&](const Json& condition) {
    samples.Add(api::StringAt(condition, "status") == "True" ? 1 : 0);
  });
}

constexpr Family kFamilies[] = {
    {"kube_job_info", "[STABLE] Information about job.", Info},
    {"kube_job_created", "[STABLE] Unix creation timestamp", TimeIfSet, "metadata", "creationTimestamp"},
    {"kube_job_spec_parallelism",
     "[STABLE] The maximum desired number of pods the job should run at any given time.", NumberIfSet, "spec",
     "parallelism"},
    {"kube_job_spec_completions",
     "[STABLE] The desired number of successfully finished pods the job should be run with.", NumberIfSet,
     "spec", "completions"},
    {"kube_job_spec_active_deadline_seconds",
     "[STABLE] The duration in seconds relative to the startTime that the job may be active before the "
     "system tries to "
     "terminate it.",
     NumberIfSet, "spec", "activeDeadlineSeconds"},
    {"kube_job_status_succeeded", "[STABLE] The number of pods which reached Phase Succeeded.", Number,
     "status", "succeeded"},
    {"kube_job_status_failed",
     "[STABLE] The number of pods which reached Phase Failed and the reason for failure.", Failed},
    {"kube_job_status_active", "[STABLE] The number of actively running pods.", Number, "status", "active"},
    {"kube_job_status_ready", "The number of ready pods that belong to this Job.", Number, "status", "ready"},
    {"kube_job_complete", "[STABLE] The job has completed its execution.", HasCompleted},
    {"kube_job_failed", "[STABLE] The job has failed its execution.", HasFailed},
    {"kube_job_status_start_time",
     "[STABLE] StartTime represents time when the job was acknowledged by the Job Manager.", TimeIfSet,
     "status", "startTime"},
    {"kube_job_status_completion_time", "[STABLE] CompletionTime represents time when the job was completed.",
     TimeIfSet, "status", "completionTime"},
    {"kube_job_status_suspended", "The number of pods which reached Phase Suspended.", Suspended},
    {"kube_job_owner", "[STABLE] Information about the Job's owner.", Owners},
};

}  // namespace

std::span<const Family> JobFamilies() { return kFamilies; }

}  // namespace terrarium::testbed::state_metrics
