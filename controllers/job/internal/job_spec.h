#pragma once

// The fields of a Job's spec that the controller uses.

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
  bool replaces_failed_only = false;  // podReplacementPolicy: Failed, with the gate on or off
  // Pointers into the Job's document, which must outlive this; nullptr: none.
  const api::Json* failure_policy = nullptr;
  const api::Json* success_policy = nullptr;

  CountingRules rules;
  bool allows_fail_index = true;    // gate JobBackoffLimitPerIndex
  bool success_policy_gate = true;  // JobSuccessPolicy
  bool replacement_gate = true;     // JobPodReplacementPolicy

  // Whether SuccessCriteriaMet precedes Complete, and is obeyed where it is set.
  bool UsesSuccessCriteria() const { return success_policy_gate || rules.delays_terminal_condition; }
  std::string_view CompletionMode() const { return indexed ? "Indexed" : "NonIndexed"; }
};

// `document`: a Job with its defaults. Fields of gates that are off count as absent.
JobSpec ReadJobSpec(const api::Json& document, const api::FeatureGates& gates);

// The other controller that spec.managedBy names; empty: this one.
std::string_view ForeignManager(const api::Json& document, const api::FeatureGates& gates);

}  // namespace terrarium::controllers::job
