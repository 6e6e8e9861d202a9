#include "apiserver/strategy/internal/job_status.h"

#include <set>

#include "api/base/clock.h"
#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/job_indexes.h"

namespace terrarium::apiserver::strategy {
namespace {

bool IsTrue(const Json& job, std::string_view type) { return HasJobCondition(job, type, "True"); }
bool IsFinished(const Json& job) { return IsTrue(job, "Complete") || IsTrue(job, "Failed"); }

bool Same(const Json* a, const Json* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return *a == *b;
}

// One status update: what the job was, what it is to be, and which parts of its status differ.
struct Change {
  const Json& job;
  const Json& old;
  const Json& spec = ObjectAt(job, "spec");
  const Json& status = ObjectAt(job, "status");
  const Json& old_status = ObjectAt(old, "status");

  bool Field(std::string_view key) const { return !Same(Find(status, key), Find(old_status, key)); }
  bool Condition(std::string_view type) const { return IsTrue(job, type) != IsTrue(old, type); }
  bool Finished() const { return IsFinished(job) != IsFinished(old); }
};

void Refuse(FieldErrors& errors, std::string_view why) {
  errors.push_back(api::InvalidErrorNoValue(Path("status").Child("conditions"), why));
}

void UncountedPods(FieldErrors& errors, const Json& status) {
  const Path path = Path("status").Child("uncountedTerminatedPods");
  std::set<std::string> seen;
  for (const char* list : {"succeeded", "failed"}) {
    const Json& uids = ListAt(status, "uncountedTerminatedPods", list);
    for (std::size_t i = 0; i < uids.size(); ++i) {
      const std::string& uid = uids[i].get_ref<const std::string&>();
      const Path here = path.Child(list).Index(i);
      if (uid.empty()) {
        errors.push_back(api::InvalidError(here, uid, "must not be empty"));
      } else if (!seen.insert(uid).second) {
        errors.push_back(api::DuplicateError(here, uid));
      }
    }
  }
}

void CompletionTime(FieldErrors& errors, const Change& change) {
  const Path path = Path("status").Child("completionTime");
  const Json* time = Find(change.status, "completionTime");
  const bool complete = IsTrue(change.job, "Complete");
  const bool touched = change.Condition("Complete") || change.Field("completionTime");
  if (touched && time != nullptr && !complete) {
    errors.push_back(
        api::InvalidError(path, *time, "cannot set completionTime when there is no Complete=True condition"));
  }
  if (touched && time == nullptr && complete) {
    errors.push_back(api::RequiredError(path, "completionTime is required for Complete jobs"));
  }
  if (!change.Field("startTime") && !change.Field("completionTime")) return;
  const auto start = api::ParseTime(StringAt(change.status, "startTime"));
  const auto end = api::ParseTime(StringAt(change.status, "completionTime"));
  if (start && end && *end < *start) {
    errors.push_back(api::InvalidError(path, *time, "must be equal to or after `startTime`"));
  }
}

void TerminalConditions(FieldErrors& errors, const Change& change) {
  const bool complete = IsTrue(change.job, "Complete");
  if ((change.Condition("Complete") || change.Condition("Failed")) && complete &&
      IsTrue(change.job, "Failed")) {
    Refuse(errors, "cannot set Complete=True and Failed=true conditions");
  }
  if ((change.Condition("Complete") || change.Condition("FailureTarget")) && complete &&
      IsTrue(change.job, "FailureTarget")) {
    Refuse(errors, "cannot set Complete=True and FailureTarget=true conditions");
  }
  CompletionTime(errors, change);
  if ((change.Condition("Failed") || change.Field("failedIndexes")) && IsTrue(change.job, "Failed") &&
      !IsTrue(change.job, "FailureTarget")) {
    Refuse(errors, "cannot set Failed=True condition without the FailureTarget=true condition");
  }
  if ((change.Condition("Complete") || change.Condition("SuccessCriteriaMet")) && complete &&
      !IsTrue(change.job, "SuccessCriteriaMet")) {
    Refuse(errors, "cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
  }
}

void FinishedJob(FieldErrors& errors, const Change& change) {
  if (!IsFinished(change.job)) return;
  const Path path("status");
  const std::int64_t active = IntAt(change.status, 0, "active");
  if ((change.Finished() || change.Field("active")) && active > 0) {
    errors.push_back(api::InvalidError(path.Child("active"), active, "active>0 is invalid for finished job"));
  }
  const bool nothing_to_start = BoolAt(change.spec, "suspend") && IntAt(change.spec, -1, "completions") == 0;
  if ((change.Finished() || change.Field("startTime")) && !nothing_to_start &&
      Find(change.status, "startTime") == nullptr) {
    errors.push_back(api::RequiredError(path.Child("startTime"), "startTime is required for finished job"));
  }
  const Json& uncounted = ObjectAt(change.status, "uncountedTerminatedPods");
  if ((change.Finished() || change.Field("uncountedTerminatedPods")) &&
      ListAt(uncounted, "failed").size() + ListAt(uncounted, "succeeded").size() > 0) {
    errors.push_back(api::InvalidError(path.Child("uncountedTerminatedPods"), uncounted,
                                       "must be empty for finished job"));
  }
}

void Indexes(FieldErrors& errors, const Change& change) {
  const Path path("status");
  const Json* completions = Find(change.spec, "completions");
  const std::int64_t limit = IntAt(change.spec, 0, "completions");
  const std::string completed(StringAt(change.status, "completedIndexes"));
  const Json* failed = Find(change.status, "failedIndexes");
  const bool completed_changed = completed != StringAt(change.old_status, "completedIndexes");
  const bool failed_changed = change.Field("failedIndexes");
  const bool per_index = Find(change.spec, "backoffLimitPerIndex") != nullptr;
  if (completed_changed && completions != nullptr) {
    if (const auto count = CountIndexes(completed, limit); !count.error.empty()) {
      errors.push_back(api::InvalidError(path.Child("completedIndexes"), completed,
                                         "error parsing completedIndexes: " + count.error));
    }
  }
  if (failed_changed && completions != nullptr && per_index && failed != nullptr) {
    if (const auto count = CountIndexes(failed->get_ref<const std::string&>(), limit); !count.error.empty()) {
      errors.push_back(api::InvalidError(path.Child("failedIndexes"), *failed,
                                         "error parsing failedIndexes: " + count.error));
    }
  }
  if (completed_changed && !completed.empty() && StringAt(change.spec, "completionMode") != "Indexed") {
    errors.push_back(
        api::InvalidError(path.Child("completedIndexes"), completed,
                          "cannot set non-empty completedIndexes when non-indexed completion mode"));
  }
  if (failed_changed && !per_index && failed != nullptr) {
    errors.push_back(
        api::InvalidError(path.Child("failedIndexes"), *failed,
                          "cannot set non-null failedIndexes when backoffLimitPerIndex is null"));
  }
  if ((failed_changed || completed_changed) && completions != nullptr && failed != nullptr) {
    if (std::string why = IndexOverlap(completed, failed->get_ref<const std::string&>(), limit);
        !why.empty()) {
      errors.push_back(api::InvalidError(path.Child("failedIndexes"), *failed, why));
    }
  }
}

void PodCounts(FieldErrors& errors, const Change& change) {
  const Path path("status");
  const std::int64_t terminating = IntAt(change.status, 0, "terminating");
  if ((change.Finished() || change.Field("terminating")) && terminating > 0 && IsFinished(change.job)) {
    errors.push_back(api::InvalidError(path.Child("terminating"), terminating,
                                       "terminating>0 is invalid for finished job"));
  }
  const std::int64_t ready = IntAt(change.status, 0, "ready");
  if ((change.Field("ready") || change.Field("active")) && ready > IntAt(change.status, 0, "active")) {
    errors.push_back(api::InvalidError(path.Child("ready"), ready, "cannot set more ready pods than active"));
  }
}

// These hold whatever changed. SuccessCriteriaMet is for every Job once replacement policies are on.
void SuccessCriteria(FieldErrors& errors, const Change& change, bool for_every_job) {
  const bool met = IsTrue(change.job, "SuccessCriteriaMet");
  const bool has_policy = Find(change.spec, "successPolicy") != nullptr;
  if (met && !for_every_job && StringAt(change.spec, "completionMode") != "Indexed") {
    Refuse(errors, "cannot set SuccessCriteriaMet to NonIndexed Job");
  }
  if (met && IsTrue(change.job, "Failed")) {
    Refuse(errors, "cannot set SuccessCriteriaMet=True and Failed=true conditions");
  }
  if (met && IsTrue(change.job, "FailureTarget")) {
    Refuse(errors, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
  }
  if (met && !for_every_job && !has_policy) {
    Refuse(errors, "cannot set SuccessCriteriaMet=True for Job without SuccessPolicy");
  }
  if (!met && has_policy && IsTrue(change.job, "Complete")) {
    Refuse(errors, "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True");
  }
}

void NoWayBack(FieldErrors& errors, const Change& change) {
  const Path path("status");
  for (const char* type : {"Failed", "Complete", "FailureTarget"}) {
    if (IsTrue(change.old, type) && !IsTrue(change.job, type)) {
      Refuse(errors, "cannot disable the terminal " + std::string(type) + "=True condition");
    }
  }
  const std::int64_t failed = IntAt(change.status, 0, "failed");
  if (failed < IntAt(change.old_status, 0, "failed")) {
    errors.push_back(api::InvalidError(path.Child("failed"), failed, "cannot decrease the failed counter"));
  }
  // An Indexed Job that is scaled down in tandem forgets the successes of the indexes it loses.
  const bool scalable = StringAt(change.spec, "completionMode") == "Indexed" &&
                        Same(Find(change.spec, "completions"), Find(change.spec, "parallelism"));
  const std::int64_t succeeded = IntAt(change.status, 0, "succeeded");
  if (!scalable && succeeded < IntAt(change.old_status, 0, "succeeded")) {
    errors.push_back(
        api::InvalidError(path.Child("succeeded"), succeeded, "cannot decrease the succeeded counter"));
  }
  const Json* end = Find(change.status, "completionTime");
  if (end != nullptr && Find(change.old_status, "completionTime") != nullptr &&
      change.Field("completionTime")) {
    errors.push_back(api::InvalidError(path.Child("completionTime"), *end, "field is immutable"));
  }
  const bool resuming =
      HasJobCondition(change.old, "Suspended", "True") && HasJobCondition(change.job, "Suspended", "False");
  if (change.Field("startTime") && !resuming && Find(change.old_status, "startTime") != nullptr &&
      !BoolAt(change.spec, "suspend")) {
    const Json* start = Find(change.status, "startTime");
    errors.push_back(api::InvalidError(path.Child("startTime"), start == nullptr ? Json() : *start,
                                       "field is immutable for unsuspended job once set"));
  }
}

}  // namespace

bool HasJobCondition(const Json& job, std::string_view type, std::string_view status) {
  for (const Json& condition : ListAt(job, "status", "conditions")) {
    if (StringAt(condition, "type") == type && StringAt(condition, "status") == status) return true;
  }
  return false;
}

void ValidateJobStatusUpdate(FieldErrors& errors, const Json& job, const Json& old,
                             const api::FeatureGates& gates) {
  const Change change{.job = job, .old = old};
  const bool strict = gates.Enabled(api::gate::kJobManagedBy);
  for (const char* key : {"active", "succeeded", "failed", "ready", "terminating"}) {
    Nonnegative(errors, change.status, key, Path("status"));
  }
  UncountedPods(errors, change.status);
  if (strict) {
    TerminalConditions(errors, change);
    FinishedJob(errors, change);
    Indexes(errors, change);
    PodCounts(errors, change);
  }
  SuccessCriteria(
      errors, change,
      strict || gates.Enabled(api::gate::kJobPodReplacementPolicy) || IsTrue(old, "SuccessCriteriaMet"));
  if (strict) NoWayBack(errors, change);
  if (IsTrue(old, "SuccessCriteriaMet") && !IsTrue(job, "SuccessCriteriaMet")) {
    Refuse(errors, "cannot disable the SuccessCriteriaMet=True condition");
  }
  if (IsTrue(old, "Complete") && !IsTrue(old, "SuccessCriteriaMet") && IsTrue(job, "SuccessCriteriaMet")) {
    Refuse(errors, "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions");
  }
}

}  // namespace terrarium::apiserver::strategy
