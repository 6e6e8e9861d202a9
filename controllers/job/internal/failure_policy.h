#pragma once

// Applies spec.podFailurePolicy to a failed pod. Pure. Mirrors pkg/controller/job/pod_failure_policy.go,
// v1.36.

#include <optional>
#include <string>
#include <string_view>

#include "api/json.h"

namespace terrarium::controllers::job {

enum class FailureAction { kIgnore, kCount, kFailIndex, kFailJob };
// As in the policy and in the label `action` of pod_failures_handled_by_failure_policy_total.
std::string_view FailureActionName(FailureAction action);

struct FailureVerdict {
  std::optional<FailureAction> action;  // nullopt: no rule matched
  bool counts = true;                   // towards backoffLimit and backoffLimitPerIndex
  std::string fail_job_message;         // for kFailJob: the message of the Job's condition
};

// The first rule that the failed pod matches decides. `policy`: spec.podFailurePolicy, nullptr without one.
// `allows_fail_index`: gate JobBackoffLimitPerIndex; without it rules of that action are skipped. REQUIRES:
// IsPodFailed(pod).
FailureVerdict MatchFailurePolicy(const api::Json* policy, const api::Json& pod, bool allows_fail_index);

}  // namespace terrarium::controllers::job
