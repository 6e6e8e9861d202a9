#include "controllers/cronjob/internal/job_template.h"

#include <chrono>
#include <utility>

#include "api/json_access.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::cronjob {

using api::Json;

std::string JobNameOf(const std::string& cron_job, api::Time scheduled) {
  const auto minutes = std::chrono::floor<std::chrono::minutes>(scheduled.time_since_epoch());
  return cron_job + "-" + std::to_string(minutes.count());
}

Json JobOf(const api::Object& cron_job, const Json& document, api::Time scheduled,
           const api::TimeZone& zone) {
  const Json& job_template = api::ObjectAt(document, "spec", "jobTemplate");
  Json metadata = {{"name", JobNameOf(cron_job.header().name, scheduled)},
                   {"annotations", api::ObjectAt(job_template, "metadata", "annotations")},
                   {"ownerReferences", Json::array({ControllerReference(cron_job, "batch/v1", "CronJob")})}};
  metadata["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"] =
      api::FormatTimeIn(zone, scheduled);
  if (const Json& labels = api::ObjectAt(job_template, "metadata", "labels"); !labels.empty())
    metadata["labels"] = labels;
  return {{"metadata", std::move(metadata)}, {"spec", api::ObjectAt(job_template, "spec")}};
}

}  // namespace terrarium::controllers::cronjob
