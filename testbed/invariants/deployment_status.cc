#include "testbed/invariants/deployment_status.h"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "testbed/invariants/value_history.h"

namespace terrarium::testbed::invariants {
namespace {

using Count = std::optional<std::int64_t>;  // nullopt: absent
constexpr std::size_t kSums = 4;
constexpr std::array<const char*, kSums> kNames = {"replicas", "readyReplicas", "availableReplicas",
                                                   "terminatingReplicas"};
constexpr std::size_t kTerminating = 3;

std::array<Count, kSums> CountsOf(const ReportedCounts& status) {
  return {status.replicas, status.ready, status.available, status.terminating};
}

std::string TextOf(const std::array<Count, kSums>& reported) {
  std::string text;
  for (std::size_t i = 0; i < kSums; ++i)
    text += (i == 0 ? "" : ", ") + std::string(kNames[i]) + " " +
            (reported[i] ? std::to_string(*reported[i]) : "absent");
  return text;
}

struct Deployment {
  DeploymentPtr facts;  // nullptr: gone, or not seen yet
  std::map<std::string, ReplicaSetPtr> sets;
  std::array<std::int64_t, kSums> sums = {};
  std::int64_t silent = 0;  // ReplicaSets that have been synced and do not report how many pods terminate
  std::array<ValueHistory<Count>, kSums> histories;

  void Add(const ReplicaSetFacts& set, int sign) {
    if (facts == nullptr || !facts->selector.Matches(*set.header)) return;
    std::array<Count, kSums> reported = CountsOf(set.status);
    for (std::size_t i = 0; i < kSums; ++i) sums[i] += sign * reported[i].value_or(0);
    if (!set.status.terminating && set.observed_generation > 0) silent += sign;
  }

  void Recount() {
    sums = {};
    silent = 0;
    for (const auto& [uid, set] : sets) Add(*set, 1);
  }

  void Loosen() {
    for (ValueHistory<Count>& history : histories) history.Loosen();
  }
};

class DeploymentStatus : public Rule {
 public:
  DeploymentStatus(TerminatingCounts terminating, Report report)
      : terminating_(terminating), report_(std::move(report)) {}

  void OnPod(const Moment&, const PodPtr&, const PodPtr&) override {}

  void OnReplicaSet(const Moment& moment, const ReplicaSetPtr& before, const ReplicaSetPtr& after) override {
    bool stays = before != nullptr && after != nullptr && before->owner == after->owner;
    if (before != nullptr && !stays && !before->owner.empty()) {
      Deployment& left = deployments_[before->owner];
      left.Add(*before, -1);
      left.sets.erase(before->header->uid);
      Changed(moment, before->owner);
    }
    if (after == nullptr || after->owner.empty()) return;
    Deployment& deployment = deployments_[after->owner];
    if (stays)
      deployment.Add(*before, -1);
    else if (!moment.created)
      deployment.Loosen();
    deployment.Add(*after, 1);
    deployment.sets[after->header->uid] = after;
    Changed(moment, after->owner);
  }

  void OnDeployment(const Moment& moment, const DeploymentPtr& before, const DeploymentPtr& after) override {
    const std::string& uid = (after != nullptr ? after : before)->header->uid;
    Deployment& deployment = deployments_[uid];
    deployment.facts = after;
    if (before == nullptr || after == nullptr) deployment.Recount();
    Changed(moment, uid);
    // What others than the controller wrote, it will put right.
    if (before != nullptr && after != nullptr && before->status != after->status && moment.ByControllers())
      Judge(moment, deployment);
  }

  void OnIdle(const Moment& moment) override {
    for (const std::string& uid : changed_) {
      const Deployment& deployment = deployments_[uid];
      std::array<Count, kSums> sums = SumsOf(deployment);
      if (CheckedCounts(deployment.facts->status) != sums)
        ReportViolation(moment, *deployment.facts, "at rest its ReplicaSets report " + TextOf(sums));
    }
    changed_.clear();
  }

  void Excuse(bool rest) override {
    for (auto& [uid, deployment] : deployments_) deployment.Loosen();
    if (rest) changed_.clear();
  }

 private:
  std::array<Count, kSums> CheckedCounts(const ReportedCounts& status) const {
    std::array<Count, kSums> reported = CountsOf(status);
    if (terminating_ == TerminatingCounts::kUnknown) reported[kTerminating] = std::nullopt;
    return reported;
  }

  std::array<Count, kSums> SumsOf(const Deployment& deployment) const {
    std::array<Count, kSums> sums;
    for (std::size_t i = 0; i < kSums; ++i) sums[i] = deployment.sums[i];
    if (terminating_ != TerminatingCounts::kReported || deployment.silent > 0)
      sums[kTerminating] = std::nullopt;
    return sums;
  }

  void Changed(const Moment& moment, const std::string& uid) {
    auto found = deployments_.find(uid);
    Deployment& deployment = found->second;
    if (deployment.facts == nullptr) {
      changed_.erase(uid);
      if (deployment.sets.empty()) deployments_.erase(found);
      return;
    }
    std::array<Count, kSums> sums = SumsOf(deployment);
    for (std::size_t i = 0; i < kSums; ++i) deployment.histories[i].Add(moment.revision, sums[i]);
    changed_.insert(uid);
  }

  void Judge(const Moment& moment, Deployment& deployment) {
    const ReportedCounts& status = deployment.facts->status;
    std::array<Count, kSums> reported = CheckedCounts(status);
    for (std::size_t i = 0; i < kSums; ++i) {
      std::int64_t since = deployment.histories[i].since();
      if (deployment.histories[i].Matches(reported[i])) continue;
      return ReportViolation(moment, *deployment.facts,
                             std::string(kNames[i]) + " of its ReplicaSets have not been so since revision " +
                                 std::to_string(since) + "; now they report " + TextOf(SumsOf(deployment)));
    }
    if (status.updated > status.replicas)
      ReportViolation(moment, *deployment.facts, "no more can be updated than there are");
    else if (status.available > status.ready)
      ReportViolation(moment, *deployment.facts, "no more can be available than ready");
  }

  void ReportViolation(const Moment& moment, const DeploymentFacts& facts, const std::string& truth) {
    report_({moment.revision,
             moment.time,
             "deployment-status",
             {RefOf("deployments", *facts.header)},
             "at revision " + std::to_string(moment.revision) + " the status of " +
                 NameOf("deployments", *facts.header) + " reports " + TextOf(CountsOf(facts.status)) +
                 ", updatedReplicas " + std::to_string(facts.status.updated) + ", but " + truth});
  }

  TerminatingCounts terminating_;
  Report report_;
  std::map<std::string, Deployment> deployments_;  // by uid; those that only ReplicaSets know of as well
  std::set<std::string> changed_;                  // since the control plane was last idle
};

}  // namespace

std::unique_ptr<Rule> MakeDeploymentStatus(TerminatingCounts terminating, Report report) {
  return std::make_unique<DeploymentStatus>(terminating, std::move(report));
}

}  // namespace terrarium::testbed::invariants
