#include "controllers/taint_eviction/internal/toleration_time.h"

#include <algorithm>

#include "api/core_v1/taint.h"
#include "api/json_access.h"

namespace terrarium::controllers {

using api::Duration;
using api::Json;

Json NoExecuteTaints(const Json& node) {
  Json taints = Json::array();
  for (const Json& taint : api::ListAt(node, "spec", "taints"))
    if (api::StringAt(taint, "effect") == api::taint::kNoExecute) taints.push_back(taint);
  return taints;
}

std::optional<Duration> TolerationTime(const Json& tolerations, const Json& taints) {
  std::optional<Duration> shortest;
  for (const Json& taint : taints) {
    // The first matching toleration counts.
    auto used = std::find_if(tolerations.begin(), tolerations.end(),
                             [&](const Json& toleration) { return api::Tolerates(toleration, taint); });
    if (used == tolerations.end()) return Duration::zero();
    if (api::Find(*used, "tolerationSeconds") == nullptr) continue;
    // Capped at about thirty years, so that the sum fits a clock of 64-bit microseconds.
    const std::int64_t seconds =
        std::clamp<std::int64_t>(api::IntAt(*used, 0, "tolerationSeconds"), 0, 1'000'000'000);
    const Duration time = std::chrono::seconds(seconds);
    shortest = shortest ? std::min(*shortest, time) : time;
  }
  return shortest;
}

}  // namespace terrarium::controllers
