#include "testbed/invariants/job_pods.h"

#include <map>
#include <set>
#include <string>
#include <utility>

namespace terrarium::testbed::invariants {
namespace {

constexpr std::int64_t kNoIndex = -1;

using Key = std::pair<std::int64_t, std::string>;  // index and uid
Key KeyOf(const PodFacts& pod) { return {pod.index.value_or(kNoIndex), pod.header->uid}; }

struct Job {
  JobPtr facts;
  bool waits = false;             // as the controller has surely seen it
  bool over = false;              // the controller has declared it Complete or Failed
  std::map<Key, PodPtr> running;  // those that have not ended
};

class JobPods : public Rule {
 public:
  JobPods(JobGates gates, Report report) : gates_(gates), report_(std::move(report)) {}

  void OnPod(const Moment& moment, const PodPtr& before, const PodPtr& after) override {
    const bool stays = before != nullptr && after != nullptr && before->owner == after->owner;
    if (before != nullptr && !stays) Remove(*before);
    if (after == nullptr || !after->of_job) return;
    auto found = jobs_.find(after->owner);
    if (found == jobs_.end()) return;
    Job& job = found->second;
    const bool made = moment.created && moment.ByControllers();
    const bool known = stays && job.running.erase(KeyOf(*before)) > 0;
    const bool runs = after->live || after->terminating;
    if (!(made || known) || !runs || !job.facts->selector.Matches(*after->header)) return;
    if (made) JudgeNew(moment, job, *after);
    job.running[KeyOf(*after)] = after;
  }

  void OnReplicaSet(const Moment&, const ReplicaSetPtr&, const ReplicaSetPtr&) override {}
  void OnDeployment(const Moment&, const DeploymentPtr&, const DeploymentPtr&) override {}

  void OnJob(const Moment& moment, const JobPtr& before, const JobPtr& after) override {
    if (after == nullptr) {
      jobs_.erase(before->header->uid);
      return;
    }
    const std::string& uid = after->header->uid;
    Job& job = jobs_[uid];
    job.facts = after;
    const bool waits = gates_.WaitsForTermination(*after);
    if (before == nullptr || !waits)
      job.waits = waits;
    else if (!job.waits)
      stricter_.insert(uid);
    if (before == nullptr || before->finished || !after->finished || !moment.ByControllers()) return;
    job.over = true;
    JudgeEnd(moment, job);
  }

  void OnIdle(const Moment&) override {
    for (const std::string& uid : stricter_)
      if (auto found = jobs_.find(uid); found != jobs_.end())
        found->second.waits = gates_.WaitsForTermination(*found->second.facts);
    stricter_.clear();
  }

 private:
  void Remove(const PodFacts& pod) {
    auto found = jobs_.find(pod.owner);
    if (found != jobs_.end()) found->second.running.erase(KeyOf(pod));
  }

  void JudgeNew(const Moment& moment, const Job& job, const PodFacts& pod) {
    const std::string made = "creates pod " + pod.header->name;
    if (job.over) ReportViolation(moment, job, pod, made + " though it is over");
    if (!job.facts->indexed || !pod.index) return;
    for (auto it = job.running.lower_bound({*pod.index, ""}); it != job.running.end(); ++it) {
      const PodFacts& other = *it->second;
      if (it->first.first != *pod.index) return;
      if (!other.live && !job.waits) continue;
      return ReportViolation(moment, job, other,
                             made + " for index " + std::to_string(*pod.index) + ", whose pod " +
                                 other.header->name + (other.live ? " runs" : " has not ended"));
    }
  }

  void JudgeEnd(const Moment& moment, const Job& job) {
    for (const auto& [key, pod] : job.running) {
      if (!pod->live && !gates_.EndsAfterItsPods()) continue;
      return ReportViolation(
          moment, job, *pod,
          "is over, but its pod " + pod->header->name + (pod->live ? " runs" : " has not ended"));
    }
  }

  void ReportViolation(const Moment& moment, const Job& job, const PodFacts& pod, const std::string& what) {
    const api::ObjectHeader& header = *job.facts->header;
    report_({moment.revision,
             moment.time,
             "job-pods",
             {RefOf("jobs", header), RefOf("pods", *pod.header)},
             "at revision " + std::to_string(moment.revision) + " " + NameOf("jobs", header) + " " + what});
  }

  JobGates gates_;
  Report report_;
  std::map<std::string, Job> jobs_;  // by uid
  std::set<std::string> stricter_;   // whose policy has changed since the control plane was last idle
};

}  // namespace

std::unique_ptr<Rule> MakeJobPods(JobGates gates, Report report) {
  return std::make_unique<JobPods>(gates, std::move(report));
}

}  // namespace terrarium::testbed::invariants
