#include "testbed/invariants/job_counts.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace terrarium::testbed::invariants {
namespace {

std::string TextOf(std::int64_t active, std::int64_t ready, const std::optional<std::int64_t>& terminating) {
  return "active " + std::to_string(active) + ", ready " + std::to_string(ready) + ", terminating " +
         (terminating ? std::to_string(*terminating) : "absent");
}

std::string TextOf(const JobCounts& counts) {
  return TextOf(counts.active, counts.ready, counts.terminating) + ", succeeded " +
         std::to_string(counts.succeeded) + " + " + std::to_string(counts.uncounted_succeeded) + ", failed " +
         std::to_string(counts.failed) + " + " + std::to_string(counts.uncounted_failed);
}

struct Job {
  JobPtr facts;
  bool excused = false;         // another client wrote the status
  std::int64_t base_ended = 0;  // counted before the monitor saw the Job
  std::int64_t base_succeeded = 0;
  // Existing pods.
  std::int64_t active = 0;
  std::int64_t ready = 0;
  std::int64_t terminating = 0;
  std::int64_t tracked = 0;
  // All pods that it ever had.
  std::int64_t ended = 0;
  std::int64_t succeeded = 0;
  std::set<std::int64_t> succeeded_indexes;

  void Count(const PodFacts& pod, int sign) {
    if (!facts->selector.Matches(*pod.header)) return;
    if (pod.live) active += sign;
    if (pod.live && pod.ready) ready += sign;
    if (pod.terminating) terminating += sign;
    if (pod.tracked) tracked += sign;
  }
  std::int64_t SucceededMax() const {
    return base_succeeded +
           (facts->indexed ? static_cast<std::int64_t>(succeeded_indexes.size()) : succeeded);
  }
  std::int64_t EndedMax() const { return base_ended + ended; }
};

class JobCountsRule : public Rule {
 public:
  JobCountsRule(JobGates gates, Report report) : gates_(gates), report_(std::move(report)) {}

  void OnPod(const Moment&, const PodPtr& before, const PodPtr& after) override {
    const bool stays = before != nullptr && after != nullptr && before->owner == after->owner;
    if (before != nullptr) {
      if (Job* job = Find(*before)) {
        job->Count(*before, -1);
        if (!stays && before->live) ++job->ended;
      }
    }
    Job* job = after == nullptr ? nullptr : Find(*after);
    if (job == nullptr) return;
    job->Count(*after, 1);
    if (!after->live && (!stays || before->live)) ++job->ended;
    if (!after->succeeded || (stays && before->succeeded)) return;
    ++job->succeeded;
    if (after->index) job->succeeded_indexes.insert(*after->index);
  }

  void OnReplicaSet(const Moment&, const ReplicaSetPtr&, const ReplicaSetPtr&) override {}
  void OnDeployment(const Moment&, const DeploymentPtr&, const DeploymentPtr&) override {}

  void OnJob(const Moment& moment, const JobPtr& before, const JobPtr& after) override {
    const std::string& uid = (after != nullptr ? after : before)->header->uid;
    if (after == nullptr) {
      jobs_.erase(uid);
      changed_.erase(uid);
      return;
    }
    Job& job = jobs_[uid];
    job.facts = after;
    changed_.insert(uid);
    if (before == nullptr) {
      job.base_ended = after->status.Ended();
      job.base_succeeded = after->status.Succeeded();
    } else if (before->status != after->status) {
      job.excused = job.excused || !moment.ByControllers();
      if (!job.excused) Judge(moment, job);
    }
  }

  void OnIdle(const Moment& moment) override {
    for (const std::string& uid : changed_) AtRest(moment, jobs_[uid]);
    changed_.clear();
  }

 private:
  Job* Find(const PodFacts& pod) {
    auto found = jobs_.find(pod.owner);
    if (!pod.of_job || found == jobs_.end()) return nullptr;
    changed_.insert(pod.owner);
    return &found->second;
  }

  void Judge(const Moment& moment, const Job& job) {
    const JobCounts& reported = job.facts->status;
    if (reported.Ended() > job.EndedMax())
      ReportViolation(moment, job, "only " + std::to_string(job.EndedMax()) + " of its pods have ended");
    else if (reported.Succeeded() > job.SucceededMax())
      ReportViolation(moment, job,
                      "only " + std::to_string(job.SucceededMax()) + " of its " +
                          (job.facts->indexed ? "indexes" : "pods") + " have succeeded");
  }

  void AtRest(const Moment& moment, const Job& job) {
    if (gates_.IsForeign(*job.facts)) return;
    // The controller no longer syncs the counts of a finished Job. It only removes the finalizers of its
    // pods.
    if (job.facts->finished) {
      if (job.tracked > 0)
        ReportViolation(
            moment, job,
            "though it is over " + std::to_string(job.tracked) + " of its pods have their finalizer");
      return;
    }
    const JobCounts& reported = job.facts->status;
    std::optional<std::int64_t> terminating;
    if (gates_.replacement_policy) terminating = job.terminating;
    if (reported.active != job.active || reported.ready != job.ready || reported.terminating != terminating)
      ReportViolation(moment, job, "its pods are at rest at " + TextOf(job.active, job.ready, terminating));
    else if (reported.uncounted_succeeded + reported.uncounted_failed > 0)
      ReportViolation(moment, job, "at rest all that is put down has been counted");
  }

  void ReportViolation(const Moment& moment, const Job& job, const std::string& truth) {
    const api::ObjectHeader& header = *job.facts->header;
    report_({moment.revision,
             moment.time,
             "job-counts",
             {RefOf("jobs", header)},
             "at revision " + std::to_string(moment.revision) + " the status of " + NameOf("jobs", header) +
                 " reports " + TextOf(job.facts->status) + ", but " + truth});
  }

  JobGates gates_;
  Report report_;
  std::map<std::string, Job> jobs_;  // by uid
  std::set<std::string> changed_;    // since the control plane was last idle
};

}  // namespace

std::unique_ptr<Rule> MakeJobCounts(JobGates gates, Report report) {
  return std::make_unique<JobCountsRule>(gates, std::move(report));
}

}  // namespace terrarium::testbed::invariants
