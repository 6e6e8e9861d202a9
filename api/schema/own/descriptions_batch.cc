// Explanations of batch/v1, in our own words.

#include "api/schema/own/declarations.h"

namespace terrarium::api::own {
namespace {

constexpr Description kBatchDescriptions[] = {
    {"batch.v1.Job", "", "Runs pods until enough of them have succeeded."},
    {"batch.v1.Job", "metadata", "Name, labels and the other facts every object has."},
    {"batch.v1.Job", "spec", "What to run, how often, how many in parallel, and when to give up."},
    {"batch.v1.Job", "status", "What the controller last saw. Written by the controller only."},
    {"batch.v1.JobList", "", "A list of Jobs."},
    {"batch.v1.JobSpec", "", "The desired state of a Job."},
    {"batch.v1.JobSpec", "parallelism", "How many pods may run in parallel. Defaults to 1."},
    {"batch.v1.JobSpec", "completions",
     "How many pods must succeed. Left out while parallelism is set, one success ends the Job once all "
     "pods have stopped."},
    {"batch.v1.JobSpec", "activeDeadlineSeconds",
     "For how many seconds the Job may be active before it is stopped and fails. Starts again when a "
     "suspended Job resumes."},
    {"batch.v1.JobSpec", "podFailurePolicy",
     "Rules that decide what a failed pod means, by its exit codes or conditions. Without a matching "
     "rule a failure counts towards backoffLimit. Needs restartPolicy Never."},
    {"batch.v1.JobSpec", "successPolicy",
     "Rules under which an Indexed Job has succeeded before all indexes have."},
    {"batch.v1.JobSpec", "backoffLimit",
     "How many failures the Job bears before it fails. Defaults to 6, or to no limit when "
     "backoffLimitPerIndex is set."},
    {"batch.v1.JobSpec", "backoffLimitPerIndex",
     "How many failures each index bears before that index fails. Only with completionMode Indexed and "
     "restartPolicy Never."},
    {"batch.v1.JobSpec", "maxFailedIndexes",
     "How many indexes may fail before the whole Job fails. Only with backoffLimitPerIndex."},
    {"batch.v1.JobSpec", "selector", "Which pods belong to the Job. Normally filled in for you."},
    {"batch.v1.JobSpec", "manualSelector",
     "True to write the selector and the labels yourself and to answer for their being unique."},
    {"batch.v1.JobSpec", "template", "The pod to run. Its restart policy is Never or OnFailure."},
    {"batch.v1.JobSpec", "ttlSecondsAfterFinished",
     "How long after its end the Job is deleted, pods included. Left out, it is kept; 0 deletes it at "
     "once."},
    {"batch.v1.JobSpec", "completionMode",
     "NonIndexed: all successes are alike. Indexed: each pod has an index from 0 to completions - 1 and "
     "every index must succeed once. Defaults to NonIndexed."},
    {"batch.v1.JobSpec", "suspend", "While true no pods are created, and the running ones are stopped."},
    {"batch.v1.JobSpec", "podReplacementPolicy",
     "When a pod that is going away is replaced. TerminatingOrFailed: as soon as it is marked for "
     "deletion or has failed. Failed: only when it has finished; the only choice with a "
     "podFailurePolicy."},
    {"batch.v1.JobSpec", "managedBy",
     "The name of the controller that is responsible for the Job. The Job controller leaves alone all "
     "Jobs that name another one. Cannot be changed."},
    {"batch.v1.JobStatus", "", "The state of a Job as the controller last saw it."},
    {"batch.v1.JobStatus", "conditions",
     "The conditions Complete, Failed, Suspended, SuccessCriteriaMet and FailureTarget."},
    {"batch.v1.JobStatus", "startTime", "When the controller started the Job; set again when it resumes."},
    {"batch.v1.JobStatus", "completionTime", "When the Job succeeded. Not set for a Job that failed."},
    {"batch.v1.JobStatus", "active", "Pods that are pending or running and not terminating."},
    {"batch.v1.JobStatus", "succeeded", "Pods that reached the phase Succeeded."},
    {"batch.v1.JobStatus", "failed", "Pods that reached the phase Failed."},
    {"batch.v1.JobStatus", "terminating", "Pods that are marked for deletion and have not finished yet."},
    {"batch.v1.JobStatus", "completedIndexes",
     "Indexes that have succeeded, as numbers and ranges: 1,3-5,7."},
    {"batch.v1.JobStatus", "failedIndexes",
     "Indexes that have failed for good, written like completedIndexes."},
    {"batch.v1.JobStatus", "uncountedTerminatedPods",
     "Pods that have ended and are on their way into the counters."},
    {"batch.v1.JobStatus", "ready", "Active pods that are ready."},
    {"batch.v1.JobCondition", "", "One aspect of a Job's state."},
    {"batch.v1.JobCondition", "type", "Complete, Failed, Suspended, SuccessCriteriaMet or FailureTarget."},
    {"batch.v1.JobCondition", "status", "True, False or Unknown."},
    {"batch.v1.JobCondition", "lastProbeTime", "When the condition was last checked."},
    {"batch.v1.JobCondition", "lastTransitionTime", "When the status last changed."},
    {"batch.v1.JobCondition", "reason", "One word for programs."},
    {"batch.v1.JobCondition", "message", "A sentence for people."},
    {"batch.v1.UncountedTerminatedPods", "", "UIDs of ended pods that the counters do not include yet."},
    {"batch.v1.UncountedTerminatedPods", "succeeded", "Those that succeeded."},
    {"batch.v1.UncountedTerminatedPods", "failed", "Those that failed."},
    {"batch.v1.PodFailurePolicy", "", "What failed pods mean for the Job."},
    {"batch.v1.PodFailurePolicy", "rules", "Evaluated in order; the first that matches decides. At most 20."},
    {"batch.v1.PodFailurePolicyRule", "",
     "What one kind of failure means. Has either onExitCodes or onPodConditions."},
    {"batch.v1.PodFailurePolicyRule", "action",
     "FailJob ends the Job, FailIndex ends the index, Ignore replaces the pod without counting the "
     "failure, Count counts it."},
    {"batch.v1.PodFailurePolicyRule", "onExitCodes", "Matches by the exit codes of containers."},
    {"batch.v1.PodFailurePolicyRule", "onPodConditions",
     "Matches when the pod has one of these conditions. At most 20."},
    {"batch.v1.PodFailurePolicyOnExitCodesRequirement", "", "Which exit codes match."},
    {"batch.v1.PodFailurePolicyOnExitCodesRequirement", "containerName",
     "Checks this container only; left out, all of them."},
    {"batch.v1.PodFailurePolicyOnExitCodesRequirement", "operator",
     "In: some exit code is in values. NotIn: some exit code is not. Exit code 0 is ignored."},
    {"batch.v1.PodFailurePolicyOnExitCodesRequirement", "values",
     "The exit codes, in ascending order and without repeats. At most 255."},
    {"batch.v1.PodFailurePolicyOnPodConditionsPattern", "", "A condition that a failed pod may have."},
    {"batch.v1.PodFailurePolicyOnPodConditionsPattern", "type", "The condition's type."},
    {"batch.v1.PodFailurePolicyOnPodConditionsPattern", "status",
     "The condition's status. Defaults to True."},
    {"batch.v1.SuccessPolicy", "", "When an Indexed Job has succeeded early."},
    {"batch.v1.SuccessPolicy", "rules", "Evaluated in order; one that is met is enough. At most 20."},
    {"batch.v1.SuccessPolicyRule", "",
     "Which or how many indexes must have succeeded. With both fields: that many out of those."},
    {"batch.v1.SuccessPolicyRule", "succeededIndexes", "The indexes, as numbers and ranges: 1,3-5,7."},
    {"batch.v1.SuccessPolicyRule", "succeededCount", "How many indexes."},

    {"batch.v1.CronJob", "", "Creates a Job at each time of its schedule."},
    {"batch.v1.CronJob", "metadata", "Name, labels and the other facts every object has."},
    {"batch.v1.CronJob", "spec", "The schedule and the Job to make."},
    {"batch.v1.CronJob", "status", "What the controller last saw."},
    {"batch.v1.CronJobList", "", "A list of CronJobs."},
    {"batch.v1.CronJobSpec", "", "The desired state of a CronJob."},
    {"batch.v1.CronJobSpec", "schedule",
     "Minute, hour, day of month, month and day of week, in cron's notation."},
    {"batch.v1.CronJobSpec", "timeZone", "The time zone of the schedule, such as Etc/UTC."},
    {"batch.v1.CronJobSpec", "startingDeadlineSeconds",
     "How late a Job may start before that run is counted as missed."},
    {"batch.v1.CronJobSpec", "concurrencyPolicy",
     "What happens when a run is due while the last one still runs: Allow both, Forbid the new one, or "
     "Replace the old one. Defaults to Allow."},
    {"batch.v1.CronJobSpec", "suspend", "While true no new Jobs are made."},
    {"batch.v1.CronJobSpec", "jobTemplate", "The Job to make."},
    {"batch.v1.CronJobSpec", "successfulJobsHistoryLimit",
     "How many succeeded Jobs are kept. Defaults to 3."},
    {"batch.v1.CronJobSpec", "failedJobsHistoryLimit", "How many failed Jobs are kept. Defaults to 1."},
};

}  // namespace

std::span<const Description> BatchDescriptions() { return kBatchDescriptions; }

}  // namespace terrarium::api::own
