#include "apiserver/subresources/internal/disruption_budget.h"

#include <string>
#include <utility>

#include "api/base/errors.h"
#include "api/core_v1/pod.h"
#include "api/json_access.h"

namespace terrarium::apiserver {
namespace {

using api::Json;

constexpr std::size_t kDisruptedPodsMax = 2000;
// Clients should soon retry when the budget's controller is behind.
constexpr int kStaleBudgetRetrySeconds = 10;

api::Status BudgetRefusal(const std::string& cause, int retry_after_seconds) {
  api::Status status = api::TooManyRequests(
      "Cannot evict pod as it would violate the pod's disruption budget.", retry_after_seconds);
  status.details->causes.push_back({"DisruptionBudget", cause, ""});
  return status;
}

void SetInsufficientPods(Json& budget, api::Time now) {
  Json next = {{"type", "DisruptionAllowed"},
               {"status", "False"},
               {"reason", "InsufficientPods"},
               {"message", ""},
               {"lastTransitionTime", api::FormatTime(now)}};
  if (std::int64_t seen = api::IntAt(budget, 0, "status", "observedGeneration"); seen > 0)
    next["observedGeneration"] = seen;
  Json& conditions = budget["status"]["conditions"];
  if (conditions.is_null()) conditions = Json::array();
  for (Json& existing : conditions) {
    if (api::StringAt(existing, "type") != "DisruptionAllowed") continue;
    if (api::StringAt(existing, "status") == "False")
      next["lastTransitionTime"] = existing["lastTransitionTime"];
    existing = std::move(next);
    return;
  }
  conditions.push_back(std::move(next));
}

// Why a budget allows no disruption. Counts are not to be trusted after a sync that failed.
std::string WhyExhausted(const std::string& name, const Json& status) {
  std::string_view reason, message;
  for (const Json& condition : api::ListAt(status, "conditions"))
    if (api::StringAt(condition, "type") == "DisruptionAllowed" &&
        api::StringAt(condition, "status") == "False") {
      reason = api::StringAt(condition, "reason");
      message = api::StringAt(condition, "message");
    }
  const std::int64_t desired = api::IntAt(status, 0, "desiredHealthy");
  const std::int64_t current = api::IntAt(status, 0, "currentHealthy");
  std::string text = "The disruption budget " + name;
  if (reason == "SyncFailed" && !message.empty())
    return text.append(" does not allow evicting pods currently because it failed sync: ").append(message);
  if (current <= desired)
    return text + " needs " + std::to_string(desired) + " healthy pods and has " + std::to_string(current) +
           " currently";
  text += " does not allow evicting pods currently";
  if (!message.empty()) text.append(" (").append(reason).append("): ").append(message);
  return text;
}

}  // namespace

bool IsGoneForBudgets(const Json& pod) {
  return api::IsPodTerminal(pod) || api::Find(pod, "metadata", "deletionTimestamp") != nullptr;
}

bool NeedsNoBudget(const Json& pod) {
  return IsGoneForBudgets(pod) || api::StringAt(pod, "status", "phase") == "Pending";
}

bool AllowsUnhealthy(const Json& budget, const Json& pod) {
  if (api::ReadinessOf(pod).ready) return false;
  if (api::StringAt(budget, "spec", "unhealthyPodEvictionPolicy") == "AlwaysAllow") return true;
  std::int64_t desired = api::IntAt(budget, 0, "status", "desiredHealthy");
  return desired > 0 && api::IntAt(budget, 0, "status", "currentHealthy") >= desired;
}

api::Status BudgetIsBehind(const std::string& budget) {
  return BudgetRefusal("The disruption budget " + budget + " is still being processed by the server.",
                       kStaleBudgetRetrySeconds);
}

api::Result<Json> TakeDisruption(const Json& budget, std::string_view pod, api::Time now) {
  std::string name(api::StringAt(budget, "metadata", "name"));
  const Json& status = api::ObjectAt(budget, "status");
  if (api::IntAt(status, 0, "observedGeneration") < api::IntAt(budget, 0, "metadata", "generation"))
    return BudgetIsBehind(name);
  std::int64_t allowed = api::IntAt(status, 0, "disruptionsAllowed");
  const api::GroupResource resource{"policy", "poddisruptionbudget"};
  if (allowed < 0) return api::Forbidden(resource, name, "pdb disruptions allowed is negative");
  if (api::ObjectAt(status, "disruptedPods").size() > kDisruptedPodsMax)
    return api::Forbidden(resource, name,
                          "DisruptedPods map too big - too many evictions not confirmed by PDB controller");
  if (allowed == 0) return BudgetRefusal(WhyExhausted(name, status), 0);
  Json taken = budget;
  taken["status"]["disruptionsAllowed"] = allowed - 1;
  // Until the disruption controller has seen the pod go, it must not count it as healthy again.
  taken["status"]["disruptedPods"][std::string(pod)] = api::FormatTime(now);
  if (allowed == 1) SetInsufficientPods(taken, now);
  return taken;
}

}  // namespace terrarium::apiserver
