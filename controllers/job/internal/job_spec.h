#pragma once

// What the controller reads of a Job's spec.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/base/feature_gates.h"
#include "api/json.h"
#include "controllers/job/internal/pod_counts.h"

namespace terrarium::controllers::job {

struct JobSpec {
  int parallelism = 1;
  std::optional<int> completions;  // nullopt: a work queue
  bool indexed = false;
  bool suspended = false;
  bool restarts_in_place = false;  // restartPolicy OnFailure
  std::int32_t backoff_limit = 6;
  std::optional<std::int32_t> backoff_limit_per_index;
  std::optional<int> failed_indexes_max;
  std::optional<api::Duration> active_deadline;
  bool replaces_failed_only = false;  // podReplacementPolicy: Failed, whatever the gate
  // In the Job's document, which is kept for as long; nullptr: there is none.
  const api::Json* failure_policy = nullptr;
  const api::Json* success_policy = nullptr;

  CountingRules rules;
  bool allows_fail_index = true;    // gate JobBackoffLimitPerIndex
  bool success_policy_gate = true;  // JobSuccessPolicy
  bool replacement_gate = true;     // JobPodReplacementPolicy

  // SuccessCriteriaMet comes before Complete, and is obeyed where it is found.
  bool UsesSuccessCriteria() const { return success_policy_gate || rules.delays_terminal_condition; }
  std::string_view CompletionMode() const { return indexed ? "Indexed" : "NonIndexed"; }
};

// `document`: a Job with its defaults. What a gate that is off rules out reads as absent.
JobSpec ReadJobSpec(const api::Json& document, const api::FeatureGates& gates);

// The controller that spec.managedBy names instead of this one; empty: this one is meant.
std::string_view ForeignManager(const api::Json& document, const api::FeatureGates& gates);

}  // namespace terrarium::controllers::job
