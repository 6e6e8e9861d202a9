#include "controllers/cronjob/internal/child_jobs.h"

#include <algorithm>
#include <tuple>

#include "api/json_access.h"

namespace terrarium::controllers::cronjob {
namespace {

using api::Json;

ChildJob::End EndOf(const Json& job) {
  for (const Json& condition : api::ListAt(job, "status", "conditions")) {
    if (api::StringAt(condition, "status") != "True") continue;
    const std::string_view type = api::StringAt(condition, "type");
    if (type == "Complete") return ChildJob::End::kComplete;
    if (type == "Failed") return ChildJob::End::kFailed;
  }
  return ChildJob::End::kNone;
}

bool IsOlder(const ChildJob* a, const ChildJob* b) {
  constexpr api::Time kLast = api::Time::max();
  return std::tuple(a->start_time.value_or(kLast), a->name.name) <
         std::tuple(b->start_time.value_or(kLast), b->name.name);
}

void AddSurplus(const std::vector<ChildJob>& jobs, ChildJob::End end, std::optional<std::int64_t> limit,
                std::vector<Surplus>& out) {
  if (!limit) return;
  std::vector<const ChildJob*> ended;
  for (const ChildJob& job : jobs)
    if (job.end == end) ended.push_back(&job);
  std::sort(ended.begin(), ended.end(), IsOlder);
  const std::int64_t count = static_cast<std::int64_t>(ended.size()) - *limit;
  for (std::int64_t i = 0; i < count; ++i) out.push_back({ended[static_cast<std::size_t>(i)], *limit});
}

}  // namespace

ChildJob ReadChildJob(const api::Object& job) {
  const std::shared_ptr<const Json> document = job.Document();
  return {.name = job.name(),
          .uid = job.header().uid,
          .end = EndOf(*document),
          .start_time = api::ParseTime(api::StringAt(*document, "status", "startTime")),
          .completion_time = api::ParseTime(api::StringAt(*document, "status", "completionTime"))};
}

std::vector<Surplus> SurplusJobs(const std::vector<ChildJob>& jobs, const CronSpec& spec) {
  std::vector<Surplus> surplus;
  AddSurplus(jobs, ChildJob::End::kComplete, spec.successful_limit, surplus);
  AddSurplus(jobs, ChildJob::End::kFailed, spec.failed_limit, surplus);
  return surplus;
}

}  // namespace terrarium::controllers::cronjob
