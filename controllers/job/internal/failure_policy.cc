#include "controllers/job/internal/failure_policy.h"

#include <algorithm>
#include <cstdint>

#include "api/base/check.h"
#include "api/json_access.h"

namespace terrarium::controllers::job {
namespace {

using api::Json;

std::optional<FailureAction> ActionOf(const Json& rule) {
  std::string_view name = api::StringAt(rule, "action");
  for (FailureAction action :
       {FailureAction::kIgnore, FailureAction::kCount, FailureAction::kFailIndex, FailureAction::kFailJob})
    if (FailureActionName(action) == name) return action;
  return std::nullopt;
}

bool ExitCodeMatches(std::int64_t code, const Json& requirement) {
  const Json& values = api::ListAt(requirement, "values");
  const bool listed = std::find(values.begin(), values.end(), code) != values.end();
  std::string_view op = api::StringAt(requirement, "operator");
  return (op == "In" && listed) || (op == "NotIn" && !listed);
}

// The first container that has ended with a code other than 0 which the requirement is about.
const Json* MatchingContainer(const Json& statuses, const Json& requirement) {
  const bool any_container = api::Find(requirement, "containerName") == nullptr;
  for (const Json& status : statuses) {
    const Json* terminated = api::Find(status, "state", "terminated");
    if (terminated == nullptr) continue;
    if (!any_container && api::StringAt(requirement, "containerName") != api::StringAt(status, "name"))
      continue;
    const std::int64_t code = api::IntAt(*terminated, 0, "exitCode");
    if (code != 0 && ExitCodeMatches(code, requirement)) return &status;
  }
  return nullptr;
}

const Json* MatchingCondition(const Json& pod, const Json& patterns) {
  for (const Json& condition : api::ListAt(pod, "status", "conditions"))
    for (const Json& pattern : patterns)
      if (api::StringAt(condition, "type") == api::StringAt(pattern, "type") &&
          api::StringAt(condition, "status") == api::StringAt(pattern, "status"))
        return &condition;
  return nullptr;
}

// What of the pod the rule is about, in words; nullopt when it does not match.
std::optional<std::string> WhatMatched(const Json& rule, const Json& pod) {
  const std::string name = std::string(api::StringAt(pod, "metadata", "namespace")) + "/" +
                           std::string(api::StringAt(pod, "metadata", "name"));
  if (const Json* requirement = api::Find(rule, "onExitCodes")) {
    const Json* status = MatchingContainer(api::ListAt(pod, "status", "containerStatuses"), *requirement);
    if (status == nullptr)
      status = MatchingContainer(api::ListAt(pod, "status", "initContainerStatuses"), *requirement);
    if (status == nullptr) return std::nullopt;
    return "Container " + std::string(api::StringAt(*status, "name")) + " for pod " + name +
           " failed with exit code " +
           std::to_string(api::IntAt(*status, 0, "state", "terminated", "exitCode"));
  }
  const Json* condition = MatchingCondition(pod, api::ListAt(rule, "onPodConditions"));
  if (condition == nullptr) return std::nullopt;
  return "Pod " + name + " has condition " + std::string(api::StringAt(*condition, "type"));
}

}  // namespace

std::string_view FailureActionName(FailureAction action) {
  switch (action) {
    case FailureAction::kIgnore: return "Ignore";
    case FailureAction::kCount: return "Count";
    case FailureAction::kFailIndex: return "FailIndex";
    case FailureAction::kFailJob: return "FailJob";
  }
  CHECK(false);
}

FailureVerdict MatchFailurePolicy(const Json* policy, const Json& pod, bool allows_fail_index) {
  if (policy == nullptr) return {};
  int position = -1;
  for (const Json& rule : api::ListAt(*policy, "rules")) {
    ++position;
    std::optional<FailureAction> action = ActionOf(rule);
    if (!action || (*action == FailureAction::kFailIndex && !allows_fail_index)) continue;
    std::optional<std::string> matched = WhatMatched(rule, pod);
    if (!matched) continue;
    FailureVerdict verdict{
        .action = action, .counts = *action != FailureAction::kIgnore, .fail_job_message = {}};
    if (*action == FailureAction::kFailJob)
      verdict.fail_job_message = *matched + " matching FailJob rule at index " + std::to_string(position);
    return verdict;
  }
  return {};
}

}  // namespace terrarium::controllers::job
