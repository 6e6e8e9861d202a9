#include "controllers/job/internal/job_metrics.h"

#include <utility>

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "api/core_v1/pod.h"
#include "controllers/job/internal/indexes.h"
#include "controllers/job/internal/pod_facts.h"

namespace terrarium::controllers::job {
namespace {

using Counters = prometheus::Family<prometheus::Counter>;

// Line ends are written as the text format wants them, which prometheus-cpp leaves to us.

constexpr const char* kFailuresHandledHelp =
    "[BETA] The number of failed Pods handled by failure policy with\\n\t\t\trespect to the failure policy "
    "action "
    "applied based on the matched\\n\t\t\trule. Possible values of the action label correspond to "
    "the\\n\t\t\tpossible values for the failure policy rule action, which are:\\n\t\t\t\"FailJob\", "
    "\"Ignore\" and "
    "\"Count\".";
constexpr const char* kTerminatedPodsHelp =
    "[BETA] The number of terminated pods (phase=Failed|Succeeded)\\nthat have the finalizer "
    "batch.kubernetes.io/job-tracking\\nThe event label can be \"add\" or \"delete\".";
constexpr const char* kFinishedIndexesHelp =
    "[ALPHA] The number of finished indexes. Possible values for the\\n\t\t\tstatus label are: "
    "\"succeeded\", "
    "\"failed\". Possible values for the\\n\t\t\tbackoffLimit label are: \"perIndex\" and \"global\"";
constexpr const char* kPodsCreationHelp =
    "[ALPHA] The number of Pods created by the Job controller labelled with a reason for the Pod "
    "creation.\\nThis "
    "metric also distinguishes between Pods created using different PodReplacementPolicy "
    "settings.\\nPossible values "
    "of the \"reason\" label are:\\n\"new\", \"recreate_terminating_or_failed\", "
    "\"recreate_failed\".\\nPossible "
    "values of the \"status\" label are:\\n\"succeeded\", \"failed\".";

Counters& Counter(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(std::string("job_controller_") + name).Help(help).Register(registry);
}

prometheus::Histogram::BucketBoundaries SyncBuckets() {
  prometheus::Histogram::BucketBoundaries buckets;
  double bound = 0.004;
  for (int i = 0; i < 15; ++i, bound *= 2) buckets.push_back(bound);
  return buckets;
}

void Add(Counters& family, prometheus::Labels labels, int count) {
  if (count > 0) family.Add(labels).Increment(count);
}

bool IsFinishedWithFinalizer(const api::Object* pod) {
  return pod != nullptr && api::IsPodTerminal(*pod) && api::HasFinalizer(*pod, kTrackingFinalizer);
}

}  // namespace

struct JobMetrics::Families {
  explicit Families(prometheus::Registry& registry)
      : sync_duration(prometheus::BuildHistogram()
                          .Name("job_controller_job_sync_duration_seconds")
                          .Help("[STABLE] The time it took to sync a job")
                          .Register(registry)),
        syncs(Counter(registry, "job_syncs_total", "[STABLE] The number of job syncs")),
        finished(Counter(registry, "jobs_finished_total", "[STABLE] The number of finished jobs")),
        elsewhere(Counter(registry, "jobs_by_external_controller_total",
                          "[ALPHA] The number of Jobs managed by an external controller")),
        pods_finished(Counter(registry, "job_pods_finished_total",
                              "[STABLE] The number of finished Pods that are fully tracked")),
        failures_handled(
            Counter(registry, "pod_failures_handled_by_failure_policy_total", kFailuresHandledHelp)),
        terminated_pods(Counter(registry, "terminated_pods_tracking_finalizer_total", kTerminatedPodsHelp)),
        finished_indexes(Counter(registry, "job_finished_indexes_total", kFinishedIndexesHelp)),
        pods_creation(Counter(registry, "job_pods_creation_total", kPodsCreationHelp)),
        stale_skips(Counter(registry, "stale_sync_skips_total",
                            "[ALPHA] Total number of Job syncs skipped due to a stale watch cache.")) {}

  prometheus::Family<prometheus::Histogram>& sync_duration;
  Counters& syncs;
  Counters& finished;
  Counters& elsewhere;
  Counters& pods_finished;
  Counters& failures_handled;
  Counters& terminated_pods;
  Counters& finished_indexes;
  Counters& pods_creation;
  Counters& stale_skips;
};

JobMetrics::JobMetrics(Metrics& metrics) : families_(std::make_unique<Families>(metrics.registry())) {}
JobMetrics::~JobMetrics() = default;

void JobMetrics::Synced(const JobSpec& spec, bool succeeded, std::string_view action, api::Duration took) {
  prometheus::Labels labels = {{"completion_mode", std::string(spec.CompletionMode())},
                               {"result", succeeded ? "success" : "error"},
                               {"action", std::string(action)}};
  families_->sync_duration.Add(labels, SyncBuckets()).Observe(std::chrono::duration<double>(took).count());
  families_->syncs.Add(labels).Increment();
}

void JobMetrics::JobFinished(const JobSpec& spec, const Condition& condition) {
  Add(families_->finished,
      {{"completion_mode", std::string(spec.CompletionMode())},
       {"result", condition.type == kComplete ? "succeeded" : "failed"},
       {"reason", condition.reason}},
      1);
}

void JobMetrics::ManagedElsewhere(std::string_view controller) {
  Add(families_->elsewhere, {{"controller_name", std::string(controller)}}, 1);
}

void JobMetrics::StatusWritten(const JobSpec& spec, const JobStatus& before, const JobStatus& after) {
  int succeeded = after.succeeded - before.succeeded;
  if (spec.indexed) {
    // An elastic Job that has become smaller has fewer completed indexes, which were finished all the same.
    const int completions = *spec.rules.index_end;
    auto count = [completions](const std::string& text) { return IndexSet::Parse(text, completions).size(); };
    succeeded = 0;
    if (after.completed_indexes != before.completed_indexes)
      succeeded = count(after.completed_indexes) - count(before.completed_indexes);
    const char* limit = spec.backoff_limit_per_index ? "perIndex" : "global";
    Add(families_->finished_indexes, {{"status", "succeeded"}, {"backoffLimit", limit}}, succeeded);
    if (spec.backoff_limit_per_index && after.failed_indexes != before.failed_indexes)
      Add(families_->finished_indexes, {{"status", "failed"}, {"backoffLimit", limit}},
          count(after.failed_indexes.value_or("")) - count(before.failed_indexes.value_or("")));
  }
  const std::string mode(spec.CompletionMode());
  Add(families_->pods_finished, {{"completion_mode", mode}, {"result", "succeeded"}}, succeeded);
  Add(families_->pods_finished, {{"completion_mode", mode}, {"result", "failed"}},
      after.failed - before.failed);
}

void JobMetrics::FailuresHandled(const std::map<FailureAction, int>& by_action) {
  for (const auto& [action, count] : by_action)
    Add(families_->failures_handled, {{"action", std::string(FailureActionName(action))}}, count);
}

void JobMetrics::PodsCreated(const JobSpec& spec, int failed_before, int terminating, int succeeded,
                             int failed) {
  std::string reason = "new";
  if (spec.replacement_gate) {
    if (spec.replaces_failed_only && failed_before > 0) {
      reason = "recreate_failed";
    } else if (failed_before > 0 || terminating > 0) {
      reason = "recreate_terminating_or_failed";
    }
  }
  Add(families_->pods_creation, {{"reason", reason}, {"status", "succeeded"}}, succeeded);
  Add(families_->pods_creation, {{"reason", reason}, {"status", "failed"}}, failed);
}

void JobMetrics::StaleSyncSkipped() {
  Add(families_->stale_skips, {{"group", "batch"}, {"resource", "jobs"}}, 1);
}

void JobMetrics::PodSeen(const api::Object* before, const api::Object* after) {
  const bool was = IsFinishedWithFinalizer(before);
  const bool is = IsFinishedWithFinalizer(after);
  if (was != is) Add(families_->terminated_pods, {{"event", is ? "add" : "delete"}}, 1);
}

}  // namespace terrarium::controllers::job
