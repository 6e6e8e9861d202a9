// How Jobs and CronJobs are printed.

#include "api/json_access.h"
#include "apiserver/table/human_duration.h"
#include "apiserver/table/internal/printer.h"

namespace terrarium::apiserver::table {
namespace {

using api::Json;

constexpr Column kContainersColumn = {"Containers", "string", "", kContainersDescription, 1};
constexpr Column kImagesColumn = {"Images", "string", "", kImagesDescription, 1};
constexpr Column kSelectorColumn = {
    "Selector", "string", "",
    "A label query over pods that should match the pod count. Normally, the system sets this field for you. "
    "More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
    1};

constexpr Column kJobColumns[] = {
    kNameColumn,
    {"Status", "string", "", "Status of the job."},
    {"Completions", "string", "",
     "The number of pods which reached phase Succeeded. The value increases monotonically for a given spec. "
     "However, it "
     "may decrease in reaction to scale down of elastic indexed jobs."},
    {"Duration", "string", "", "Time required to complete the job."},
    kAgeColumn,
    kContainersColumn,
    kImagesColumn,
    kSelectorColumn,
};

constexpr Column kCronJobColumns[] = {
    kNameColumn,
    {"Schedule", "string", "", "The schedule in Cron format, see https://en.wikipedia.org/wiki/Cron."},
    {"Timezone", "string", "",
     "The time zone name for the given schedule, see "
     "https://en.wikipedia.org/wiki/List_of_tz_database_time_zones. If "
     "not specified, this will default to the time zone of the kube-controller-manager process. The set of "
     "valid time "
     "zone names and the time zone offset is loaded from the system-wide time zone database by the API "
     "server during "
     "CronJob validation and the controller manager during execution. If no system-wide time zone database "
     "can be found "
     "a bundled version of the database is used instead. If the time zone name becomes invalid during the "
     "lifetime of a "
     "CronJob or due to a change in host configuration, the controller will stop creating new new Jobs and "
     "will create "
     "a system event with the reason UnknownTimeZone. More information can be found in "
     "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#time-zones"},
    {"Suspend", "boolean", "",
     "This flag tells the controller to suspend subsequent executions, it does not apply to already started "
     "executions.  Defaults to false."},
    {"Active", "integer", "", "A list of pointers to currently running jobs."},
    {"Last Schedule", "string", "", "Information when was the last time the job was successfully scheduled."},
    kAgeColumn,
    kContainersColumn,
    kImagesColumn,
    kSelectorColumn,
};

// "2/5", or "2/1 of 3" for a job that ends with its first success but runs several pods.
std::string Completions(const Json& job) {
  std::string succeeded = std::to_string(api::IntAt(job, 0, "status", "succeeded"));
  if (const Json* wanted = api::Find(job, "spec", "completions");
      wanted != nullptr && wanted->is_number_integer())
    return succeeded + "/" + std::to_string(wanted->get<std::int64_t>());
  std::int64_t parallelism = api::IntAt(job, 0, "spec", "parallelism");
  return succeeded + (parallelism > 1 ? "/1 of " + std::to_string(parallelism) : std::string("/1"));
}

std::string RunTime(const Json& job, api::Time now) {
  auto started = api::ParseTime(api::StringAt(job, "status", "startTime"));
  if (!started) return "";
  auto completed = api::ParseTime(api::StringAt(job, "status", "completionTime"));
  return HumanDuration(completed.value_or(now) - *started);
}

std::string_view JobStatus(const Json& job) {
  const Json& conditions = api::ListAt(job, "status", "conditions");
  auto is = [&](std::string_view type) { return ConditionStatus(conditions, type) == "True"; };
  if (is("Complete")) return "Complete";
  if (is("Failed")) return "Failed";
  if (api::Find(job, "metadata", "deletionTimestamp") != nullptr) return "Terminating";
  for (std::string_view type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"})
    if (is(type)) return type;
  return "Running";
}

std::vector<Json> JobCells(const Json& job, api::Time now) {
  const Json& pod_spec = api::ObjectAt(job, "spec", "template", "spec");
  return {Name(job),
          JobStatus(job),
          Completions(job),
          RunTime(job, now),
          Age(job, now),
          ContainerNames(pod_spec),
          ContainerImages(pod_spec),
          SelectorText(api::Find(job, "spec", "selector"))};
}

std::vector<Json> CronJobCells(const Json& object, api::Time now) {
  const Json* suspend = api::Find(object, "spec", "suspend");
  const Json* last = api::Find(object, "status", "lastScheduleTime");
  const Json* zone = api::Find(object, "spec", "timeZone");
  const Json& job_spec = api::ObjectAt(object, "spec", "jobTemplate", "spec");
  const Json& pod_spec = api::ObjectAt(job_spec, "template", "spec");
  return {Name(object),
          api::StringAt(object, "spec", "schedule"),
          zone == nullptr ? Json(kNone) : *zone,
          suspend == nullptr     ? "<unset>"
          : suspend->get<bool>() ? "True"
                                 : "False",
          static_cast<std::int64_t>(api::ListAt(object, "status", "active").size()),
          last == nullptr ? std::string(kNone) : Since(last, now),
          Age(object, now),
          ContainerNames(pod_spec),
          ContainerImages(pod_spec),
          SelectorText(api::Find(job_spec, "selector"))};
}

constexpr Printer kBatchPrinters[] = {
    {"batch", "CronJob", kCronJobColumns, CronJobCells},
    {"batch", "Job", kJobColumns, JobCells},
};

}  // namespace

std::span<const Printer> BatchPrinters() { return kBatchPrinters; }

}  // namespace terrarium::apiserver::table
