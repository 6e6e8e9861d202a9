#include "controllers/job/internal/pod_counts.h"

#include <algorithm>

#include "api/json_access.h"

namespace terrarium::controllers::job {

CountingRules CountingRulesOf(const api::Json& job_spec, const api::FeatureGates& gates) {
  const bool replacement_policy = gates.Enabled(api::gate::kJobPodReplacementPolicy);
  const bool failure_policy = api::Find(job_spec, "podFailurePolicy") != nullptr;
  CountingRules rules;
  rules.only_replace_failed =
      failure_policy || (replacement_policy && api::StringAt(job_spec, "podReplacementPolicy") == "Failed");
  rules.reports_terminating = replacement_policy;
  rules.delays_terminal_condition = replacement_policy || gates.Enabled(api::gate::kJobManagedBy);
  if (api::StringAt(job_spec, "completionMode") == "Indexed")
    rules.index_end = static_cast<int>(api::IntAt(job_spec, 0, "completions"));
  return rules;
}

bool IsPodFailed(const PodFacts& pod, const CountingRules& rules) {
  if (pod.phase == Phase::kFailed) return true;
  // A pod without a kubelet may disappear without ever reaching the phase Failed.
  return !rules.only_replace_failed && pod.Terminating();
}

bool HasValidIndex(const PodFacts& pod, const CountingRules& rules) {
  return !rules.index_end || (pod.index != kUnknownIndex && pod.index < *rules.index_end);
}

bool IsUncounted(const PodFacts& pod, const CountingRules& rules, const Uncounted& uncounted) {
  return pod.has_finalizer && HasValidIndex(pod, rules) && !uncounted.finalizer_removals.contains(pod.uid);
}

Finish NewlyFinished(const PodFacts& pod, const CountingRules& rules, const Uncounted& uncounted) {
  const bool failed = IsPodFailed(pod, rules);
  if (pod.phase != Phase::kSucceeded && !failed) return Finish::kNone;
  if (!IsUncounted(pod, rules, uncounted)) return Finish::kNone;
  if (uncounted.failed.contains(pod.uid) || uncounted.succeeded.contains(pod.uid)) return Finish::kNone;
  return failed ? Finish::kFailed : Finish::kSucceeded;
}

void PodCounts::Count(const PodFacts& pod, int sign) {
  if (pod.Active()) {
    active_ += sign;
    if (pod.ready) ready_ += sign;
  }
  if (pod.Terminating()) terminating_ += sign;
  if (pod.phase == Phase::kRunning || pod.phase == Phase::kPending) restarts_ += sign * pod.restarts;
}

bool PastBackoffLimitByRestarts(int restarts, std::int32_t backoff_limit) {
  return backoff_limit == 0 ? restarts > 0 : restarts >= backoff_limit;
}

int WantedActive(const Demand& demand) {
  if (!demand.completions) return demand.succeeded > 0 ? demand.active : demand.parallelism;
  return std::max(std::min(*demand.completions - demand.succeeded, demand.parallelism), 0);
}

int PodsTooMany(const Demand& demand) { return std::max(demand.active - WantedActive(demand), 0); }

int PodsMissing(const Demand& demand, const CountingRules& rules) {
  const int holding_a_place = demand.active + (rules.only_replace_failed ? demand.terminating : 0);
  return std::max(WantedActive(demand) - holding_a_place, 0);
}

}  // namespace terrarium::controllers::job
