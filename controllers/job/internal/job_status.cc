#include "controllers/job/internal/job_status.h"

#include "api/json_access.h"

namespace terrarium::controllers::job {
namespace {

using api::Json;

std::vector<std::string> Strings(const Json& list) {
  std::vector<std::string> out;
  out.reserve(list.size());
  for (const Json& item : list) out.push_back(item.get<std::string>());
  return out;
}

void SetOrErase(Json& object, const char* key, bool present, Json value) {
  if (present) {
    object[key] = std::move(value);
  } else {
    object.erase(key);
  }
}

void SetCount(Json& object, const char* key, int count) { SetOrErase(object, key, count != 0, count); }

void SetTime(Json& object, const char* key, const std::optional<api::Time>& time) {
  SetOrErase(object, key, time.has_value(), time ? Json(api::FormatTime(*time)) : Json());
}

Json NewCondition(const Condition& condition, bool value, api::Time now) {
  Json out = {{"type", condition.type},
              {"status", value ? "True" : "False"},
              {"lastProbeTime", api::FormatTime(now)},
              {"lastTransitionTime", api::FormatTime(now)}};
  if (!condition.reason.empty()) out["reason"] = condition.reason;
  if (!condition.message.empty()) out["message"] = condition.message;
  return out;
}

bool IsTrue(const Json& condition, std::string_view type) {
  return api::StringAt(condition, "type") == type && api::StringAt(condition, "status") == "True";
}

bool HasTrue(const Json& conditions, std::string_view type) {
  for (const Json& condition : conditions)
    if (IsTrue(condition, type)) return true;
  return false;
}

}  // namespace

JobStatus ReadJobStatus(const Json& document) {
  const Json& status = api::ObjectAt(document, "status");
  JobStatus out;
  out.active = static_cast<int>(api::IntAt(status, 0, "active"));
  if (api::Find(status, "ready") != nullptr) out.ready = static_cast<int>(api::IntAt(status, 0, "ready"));
  if (api::Find(status, "terminating") != nullptr)
    out.terminating = static_cast<int>(api::IntAt(status, 0, "terminating"));
  out.succeeded = static_cast<int>(api::IntAt(status, 0, "succeeded"));
  out.failed = static_cast<int>(api::IntAt(status, 0, "failed"));
  out.completed_indexes = api::StringAt(status, "completedIndexes");
  if (api::Find(status, "failedIndexes") != nullptr)
    out.failed_indexes = api::StringAt(status, "failedIndexes");
  out.uncounted_succeeded = Strings(api::ListAt(status, "uncountedTerminatedPods", "succeeded"));
  out.uncounted_failed = Strings(api::ListAt(status, "uncountedTerminatedPods", "failed"));
  out.start_time = api::ParseTime(api::StringAt(status, "startTime"));
  out.completion_time = api::ParseTime(api::StringAt(status, "completionTime"));
  out.conditions = api::ListAt(status, "conditions");
  return out;
}

Json WithStatus(Json status, const JobStatus& wanted) {
  if (!status.is_object()) status = Json::object();
  SetCount(status, "active", wanted.active);
  SetOrErase(status, "ready", wanted.ready.has_value(), wanted.ready.value_or(0));
  SetOrErase(status, "terminating", wanted.terminating.has_value(), wanted.terminating.value_or(0));
  SetCount(status, "succeeded", wanted.succeeded);
  SetCount(status, "failed", wanted.failed);
  SetOrErase(status, "completedIndexes", !wanted.completed_indexes.empty(), wanted.completed_indexes);
  SetOrErase(status, "failedIndexes", wanted.failed_indexes.has_value(), wanted.failed_indexes.value_or(""));
  Json uncounted = Json::object();
  SetOrErase(uncounted, "succeeded", !wanted.uncounted_succeeded.empty(), wanted.uncounted_succeeded);
  SetOrErase(uncounted, "failed", !wanted.uncounted_failed.empty(), wanted.uncounted_failed);
  status["uncountedTerminatedPods"] = std::move(uncounted);
  SetTime(status, "startTime", wanted.start_time);
  SetTime(status, "completionTime", wanted.completion_time);
  SetOrErase(status, "conditions", !wanted.conditions.empty(), wanted.conditions);
  return status;
}

std::optional<Condition> TrueCondition(const JobStatus& status, std::string_view type) {
  for (const Json& condition : status.conditions) {
    if (!IsTrue(condition, type)) continue;
    return Condition{std::string(type), std::string(api::StringAt(condition, "reason")),
                     std::string(api::StringAt(condition, "message"))};
  }
  return std::nullopt;
}

bool IsFinished(const JobStatus& status) {
  return HasTrue(status.conditions, kComplete) || HasTrue(status.conditions, kFailed);
}

bool IsFinished(const Json& document) {
  const Json& conditions = api::ListAt(document, "status", "conditions");
  return HasTrue(conditions, kComplete) || HasTrue(conditions, kFailed);
}

void AppendTrue(JobStatus& status, const Condition& condition, api::Time now) {
  status.conditions.push_back(NewCondition(condition, true, now));
}

bool EnsureCondition(JobStatus& status, const Condition& condition, bool value, api::Time now) {
  for (Json& present : status.conditions) {
    if (api::StringAt(present, "type") != condition.type) continue;
    const bool same = api::StringAt(present, "status") == (value ? "True" : "False") &&
                      api::StringAt(present, "reason") == condition.reason &&
                      api::StringAt(present, "message") == condition.message;
    if (!same) present = NewCondition(condition, value, now);
    return !same;
  }
  if (value) AppendTrue(status, condition, now);
  return value;
}

api::Time WholeSeconds(api::Time time) { return std::chrono::floor<std::chrono::seconds>(time); }

}  // namespace terrarium::controllers::job
