#include "controllers/disruption/internal/budget_status.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/json_access.h"

namespace terrarium::controllers::disruption {
namespace {

using api::Json;

// An integer as it is, a percentage of `total` rounded up: 50% of 3 is 2.
std::int64_t Scaled(const Json& int_or_percent, std::int64_t total) {
  if (int_or_percent.is_number_integer()) return int_or_percent.get<std::int64_t>();
  const std::string& text = int_or_percent.get_ref<const std::string&>();
  std::int64_t percent = 0;
  std::from_chars(text.data(), text.data() + text.size(), percent);
  return (percent * total + 99) / 100;
}

// Conditions keep their transition time while their status stays.
void SetDisruptionAllowed(Json& status, Json next, api::Time now) {
  next["type"] = "DisruptionAllowed";
  next["lastTransitionTime"] = api::FormatTime(now);
  if (std::int64_t seen = api::IntAt(status, 0, "observedGeneration"); seen > 0)
    next["observedGeneration"] = seen;
  Json& conditions = status["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  for (Json& existing : conditions) {
    if (api::StringAt(existing, "type") != "DisruptionAllowed") continue;
    if (api::StringAt(existing, "status") == api::StringAt(next, "status"))
      next["lastTransitionTime"] = existing["lastTransitionTime"];
    existing = std::move(next);
    return;
  }
  conditions.push_back(std::move(next));
}

}  // namespace

bool NeedsScale(const Json& spec) {
  if (api::Find(spec, "maxUnavailable") != nullptr) return true;
  const Json* min_available = api::Find(spec, "minAvailable");
  return min_available != nullptr && min_available->is_string();
}

Expected ExpectedOf(const Json& spec, std::int64_t pods, std::int64_t scale) {
  if (const Json* max_unavailable = api::Find(spec, "maxUnavailable"))
    return {scale, std::max<std::int64_t>(scale - Scaled(*max_unavailable, scale), 0)};
  if (const Json* min_available = api::Find(spec, "minAvailable")) {
    std::int64_t expected = min_available->is_string() ? scale : pods;
    return {expected, Scaled(*min_available, expected)};
  }
  return {};
}

Disrupted DisruptedOf(const Json& status, const SelectedPods& pods, api::Time now) {
  Disrupted disrupted;
  for (const auto& [name, when] : api::ObjectAt(status, "disruptedPods").items()) {
    const PodFacts* pod = pods.Find(name);
    if (pod == nullptr || pod->deleting) continue;
    api::Time expiry = api::ParseTime(when.get_ref<const std::string&>()).value_or(now) + kDeletionTimeout;
    if (expiry < now) {
      disrupted.not_deleted.push_back(name);
      continue;
    }
    if (!disrupted.next_expiry || expiry < *disrupted.next_expiry) disrupted.next_expiry = expiry;
    disrupted.pods.emplace(name, when.get<std::string>());
    if (expiry > now && pod->ready) ++disrupted.still_healthy;
  }
  return disrupted;
}

Json NextStatus(const Json& budget, const Expected& expected, std::int64_t current_healthy,
                const Disrupted& disrupted, api::Time now) {
  // Without pods nothing may be disrupted: the first ones to come must not find a budget that is open.
  std::int64_t allowed =
      expected.pods <= 0 ? 0 : std::max<std::int64_t>(current_healthy - expected.healthy, 0);
  const Json& old = api::ObjectAt(budget, "status");
  Json status = {{"currentHealthy", current_healthy},
                 {"desiredHealthy", expected.healthy},
                 {"expectedPods", expected.pods},
                 {"disruptionsAllowed", allowed}};
  if (std::int64_t generation = api::IntAt(budget, 0, "metadata", "generation"); generation > 0)
    status["observedGeneration"] = generation;
  if (!disrupted.pods.empty()) status["disruptedPods"] = disrupted.pods;
  if (const Json* conditions = api::Find(old, "conditions")) status["conditions"] = *conditions;
  SetDisruptionAllowed(status,
                       {{"status", allowed > 0 ? "True" : "False"},
                        {"reason", allowed > 0 ? "SufficientPods" : "InsufficientPods"},
                        {"message", ""}},
                       now);
  return status;
}

Json FailedStatus(const Json& budget, const std::string& why, api::Time now) {
  Json status = api::ObjectAt(budget, "status");
  status["disruptionsAllowed"] = 0;
  SetDisruptionAllowed(status, {{"status", "False"}, {"reason", "SyncFailed"}, {"message", why}}, now);
  return status;
}

}  // namespace terrarium::controllers::disruption
