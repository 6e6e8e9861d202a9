#include <strings.h>

#include "api/cron/cron_schedule.h"
#include "api/cron/time_zone.h"
#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/job_spec.h"
#include "apiserver/strategy/internal/pod_template_rules.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

// Its Jobs are named <cronjob>-<11 characters>, and a Job's name is at most 63 long.
constexpr std::size_t kMaxNameLength = 52;

bool NamesZone(std::string_view schedule) { return schedule.find("TZ") != std::string_view::npos; }

void Schedule(FieldErrors& errors, const Json& spec, const Json* old_spec, const Path& path) {
  const std::string schedule(StringAt(spec, "schedule"));
  if (schedule.empty()) {
    errors.push_back(api::RequiredError(path));
    return;
  }
  if (const api::ParsedCronSchedule parsed = api::ParseCronSchedule(schedule); !parsed) {
    errors.push_back(api::InvalidError(path, schedule, parsed.error));
  }
  if (!NamesZone(schedule)) return;
  // A schedule with a zone in it may stay, but no new one is taken.
  const bool had_zone = old_spec != nullptr && NamesZone(StringAt(*old_spec, "schedule"));
  if (!had_zone) {
    errors.push_back(api::InvalidError(path, schedule,
                                       "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"));
  } else if (Find(spec, "timeZone") != nullptr) {
    errors.push_back(
        api::InvalidError(path, schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule"));
  }
}

void TimeZone(FieldErrors& errors, const Json& spec, const Path& path) {
  const Json* zone = Find(spec, "timeZone");
  if (zone == nullptr) return;
  const std::string& name = zone->get_ref<const std::string&>();
  if (name.empty()) {
    errors.push_back(api::InvalidError(path, name, "timeZone must be nil or non-empty string"));
    return;
  }
  if (!api::IsTimeZoneName(name)) {
    errors.push_back(api::InvalidError(path, name, "unknown time zone " + name));
    return;
  }
  if (strcasecmp(name.c_str(), "Local") == 0) {
    errors.push_back(api::InvalidError(
        path, name, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"));
  }
  if (std::string error; !api::TimeZone::Load(name, &error)) {
    errors.push_back(api::InvalidError(path, name, error));
  }
}

void JobTemplate(FieldErrors& errors, const Json& job_template, const PodValidationOptions& options,
                 const Path& path) {
  const Json& spec = ObjectAt(job_template, "spec");
  const Path here = path.Child("spec");
  ValidateJobSpec(errors, spec, options, here);
  if (const Json* selector = Find(spec, "selector")) {
    errors.push_back(
        api::InvalidError(here.Child("selector"), *selector, "`selector` will be auto-generated"));
  }
  if (BoolAt(spec, "manualSelector")) {
    errors.push_back(api::NotSupportedError(here.Child("manualSelector"), true, {"nil", "false"}));
  }
}

bool SameTimeZone(const Json& spec, const Json& old_spec) {
  const Json* zone = Find(spec, "timeZone");
  const Json* old_zone = Find(old_spec, "timeZone");
  return zone == nullptr || old_zone == nullptr ? zone == old_zone : *zone == *old_zone;
}

FieldErrors Spec(const StrategyContext& context, const Json& spec, const Json* old_spec) {
  const Path path("spec");
  FieldErrors errors;
  Schedule(errors, spec, old_spec, path.Child("schedule"));
  Nonnegative(errors, spec, "startingDeadlineSeconds", path);
  if (old_spec == nullptr || !SameTimeZone(spec, *old_spec)) {
    TimeZone(errors, spec, path.Child("timeZone"));
  }
  if (StringAt(spec, "concurrencyPolicy").empty()) {
    errors.push_back(api::RequiredError(path.Child("concurrencyPolicy")));
  } else {
    OneOf(errors, path.Child("concurrencyPolicy"), StringAt(spec, "concurrencyPolicy"),
          {"Allow", "Forbid", "Replace"});
  }
  const Json* old_template =
      old_spec == nullptr ? nullptr : &ObjectAt(*old_spec, "jobTemplate", "spec", "template");
  JobTemplate(errors, ObjectAt(spec, "jobTemplate"), PodOptions(context, old_template),
              path.Child("jobTemplate"));
  Nonnegative(errors, spec, "successfulJobsHistoryLimit", path);
  Nonnegative(errors, spec, "failedJobsHistoryLimit", path);
  return errors;
}

class CronJob final : public Strategy {
 public:
  void Default(Json& object) const override {
    if (Find(object, "spec", "jobTemplate", "spec") != nullptr)
      DefaultTemplate(object["spec"]["jobTemplate"]["spec"]);
  }

  FieldErrors Validate(const StrategyContext& context, const Json& object) const override {
    FieldErrors errors = NewMetadata(object, true, NameRule());
    api::Append(errors, Spec(context, ObjectAt(object, "spec"), nullptr));
    const std::string_view name = StringAt(object, "metadata", "name");
    if (name.size() > kMaxNameLength) {
      errors.push_back(
          api::InvalidError(Path("metadata").Child("name"), name, "must be no more than 52 characters"));
    }
    return errors;
  }

  FieldErrors ValidateUpdate(const StrategyContext& context, const Json& object,
                             const Json& old) const override {
    FieldErrors errors = ChangedMetadata(object, old);
    api::Append(errors, Spec(context, ObjectAt(object, "spec"), &ObjectAt(old, "spec")));
    return errors;
  }

  std::vector<std::string> Warnings(const StrategyContext& /*context*/, const Json& object,
                                    const Json* old) const override {
    std::vector<std::string> warnings;
    if (old == nullptr) warnings = PodNameWarnings(object);
    if (old == nullptr || BumpsGeneration(object, *old)) {
      for (std::string& text : JobSpecWarnings(ObjectAt(object, "spec", "jobTemplate", "spec"),
                                               Path("spec").Child("jobTemplate", "spec"))) {
        warnings.push_back(std::move(text));
      }
    }
    if (old != nullptr && NamesZone(StringAt(object, "spec", "schedule"))) {
      warnings.push_back(
          "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
          "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details");
    }
    return warnings;
  }
};

}  // namespace

const Strategy& CronJobStrategy() {
  static const CronJob strategy;
  return strategy;
}

}  // namespace terrarium::apiserver
