#include "controllers/cronjob/internal/cron_status.h"

#include <algorithm>
#include <utility>

#include "api/json_access.h"

namespace terrarium::controllers::cronjob {

using api::Json;

CronStatus::CronStatus(const Json& document) : json_(api::ObjectAt(document, "status")) {
  for (const Json& job : api::ListAt(json_, "active")) uids_.emplace(api::StringAt(job, "uid"));
}

std::vector<CronStatus::ActiveJob> CronStatus::active() const {
  std::vector<ActiveJob> jobs;
  for (const Json& job : api::ListAt(json_, "active")) {
    if (!IsActive(api::StringAt(job, "uid"))) continue;
    jobs.push_back({{std::string(api::StringAt(job, "namespace")), std::string(api::StringAt(job, "name"))},
                    std::string(api::StringAt(job, "uid"))});
  }
  return jobs;
}

bool CronStatus::IsActive(const api::ObjectName& job) const {
  const std::vector<ActiveJob> jobs = active();
  return std::any_of(jobs.begin(), jobs.end(), [&job](const ActiveJob& each) { return each.name == job; });
}

void CronStatus::AddActive(const api::Object& job) {
  Prune();
  json_["active"].push_back({{"apiVersion", "batch/v1"},
                             {"kind", "Job"},
                             {"name", job.header().name},
                             {"namespace", job.header().ns},
                             {"resourceVersion", std::to_string(job.revision())},
                             {"uid", job.header().uid}});
  uids_.insert(job.header().uid);
}

void CronStatus::RemoveActive(std::string_view uid) {
  auto found = uids_.find(uid);
  if (found == uids_.end()) return;
  uids_.erase(found);
  removed_ = true;
}

const Json& CronStatus::json() {
  Prune();
  return json_;
}

void CronStatus::Prune() {
  if (!std::exchange(removed_, false)) return;
  Json left = Json::array();
  for (Json& job : json_["active"])
    if (IsActive(api::StringAt(job, "uid"))) left.push_back(std::move(job));
  if (left.empty()) {
    json_.erase("active");
  } else {
    json_["active"] = std::move(left);
  }
}

std::optional<api::Time> CronStatus::last_schedule_time() const {
  return api::ParseTime(api::StringAt(json_, "lastScheduleTime"));
}

void CronStatus::set_last_schedule_time(api::Time time) { json_["lastScheduleTime"] = api::FormatTime(time); }

void CronStatus::JobSucceeded(api::Time completed) {
  const std::optional<api::Time> last = api::ParseTime(api::StringAt(json_, "lastSuccessfulTime"));
  if (!last || *last < completed) json_["lastSuccessfulTime"] = api::FormatTime(completed);
}

}  // namespace terrarium::controllers::cronjob
