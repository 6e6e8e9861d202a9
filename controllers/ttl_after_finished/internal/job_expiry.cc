#include "controllers/ttl_after_finished/internal/job_expiry.h"

#include <chrono>

#include "api/json_access.h"

namespace terrarium::controllers::ttl_after_finished {

std::optional<api::Time> ExpiryOf(const api::Json& job) {
  const api::Json* ttl = api::Find(job, "spec", "ttlSecondsAfterFinished");
  if (ttl == nullptr || api::Find(job, "metadata", "deletionTimestamp") != nullptr) return std::nullopt;
  for (const api::Json& condition : api::ListAt(job, "status", "conditions")) {
    std::string_view type = api::StringAt(condition, "type");
    if ((type != "Complete" && type != "Failed") || api::StringAt(condition, "status") != "True") continue;
    // DIVERGES: when the time is missing Kubernetes retries indefinitely, though no retry can succeed.
    std::optional<api::Time> finished = api::ParseTime(api::StringAt(condition, "lastTransitionTime"));
    if (!finished) return std::nullopt;
    return *finished + std::chrono::seconds(ttl->get<std::int64_t>());
  }
  return std::nullopt;
}

}  // namespace terrarium::controllers::ttl_after_finished
