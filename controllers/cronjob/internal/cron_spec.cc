#include "controllers/cronjob/internal/cron_spec.h"

#include <algorithm>

#include "api/json_access.h"

namespace terrarium::controllers::cronjob {
namespace {

using api::Json;

// A deadline of more than a thousand years counts as none, so that the arithmetic of times cannot overflow.
constexpr std::chrono::seconds kDeadlineMax = std::chrono::years(1000);

std::optional<std::int64_t> OptionalInt(const Json& object, const char* key) {
  if (api::Find(object, key) == nullptr) return std::nullopt;
  return api::IntAt(object, 0, key);
}

}  // namespace

CronSpec ReadCronSpec(const Json& document) {
  const Json& spec = api::ObjectAt(document, "spec");
  CronSpec out;
  out.schedule = api::StringAt(spec, "schedule");
  if (api::Find(spec, "timeZone") != nullptr) out.time_zone = api::StringAt(spec, "timeZone");
  out.suspended = api::BoolAt(spec, "suspend");
  const std::string_view policy = api::StringAt(spec, "concurrencyPolicy");
  if (policy == "Forbid") out.policy = ConcurrencyPolicy::kForbid;
  if (policy == "Replace") out.policy = ConcurrencyPolicy::kReplace;
  if (const auto deadline = OptionalInt(spec, "startingDeadlineSeconds"))
    out.starting_deadline = std::min(std::chrono::seconds(*deadline), kDeadlineMax);
  out.successful_limit = OptionalInt(spec, "successfulJobsHistoryLimit");
  out.failed_limit = OptionalInt(spec, "failedJobsHistoryLimit");
  return out;
}

bool NamesZone(const std::string& schedule) { return schedule.find("TZ") != std::string::npos; }

api::ParsedCronSchedule ScheduleOf(const CronSpec& spec) {
  const bool in_zone = spec.time_zone && !NamesZone(spec.schedule) && api::TimeZone::Load(*spec.time_zone);
  return api::ParseCronSchedule(in_zone ? "TZ=" + *spec.time_zone + " " + spec.schedule : spec.schedule);
}

}  // namespace terrarium::controllers::cronjob
