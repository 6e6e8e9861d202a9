#include "testbed/invariants/replica_status.h"

#include <chrono>
#include <compare>
#include <map>
#include <optional>
#include <utility>

#include "testbed/invariants/value_history.h"

namespace terrarium::testbed::invariants {
namespace {

struct Counts {
  std::int64_t replicas = 0;
  std::int64_t fully_labeled = 0;
  std::int64_t ready = 0;
  std::optional<std::int64_t> terminating;  // nullopt: not reported
  friend auto operator<=>(const Counts&, const Counts&) = default;

  std::string String() const {
    return "replicas " + std::to_string(replicas) + ", fullyLabeledReplicas " +
           std::to_string(fully_labeled) + ", readyReplicas " + std::to_string(ready) +
           ", terminatingReplicas " + (terminating ? std::to_string(*terminating) : "absent");
  }
};

struct Set {
  ReplicaSetPtr facts;  // nullptr: deleted, or not seen yet
  std::map<std::string, PodPtr> pods;
  Counts counts;
  ValueHistory<Counts> history;

  // Adds `sign` times the contribution of one pod.
  void Count(const PodFacts& pod, int sign) {
    if (facts == nullptr || !facts->selector.Matches(*pod.header)) return;
    if (pod.terminating && counts.terminating) *counts.terminating += sign;
    if (!pod.live) return;
    counts.replicas += sign;
    if (facts->template_labels.Matches(*pod.header)) counts.fully_labeled += sign;
    if (pod.ready) counts.ready += sign;
  }

  void Recount(bool counts_terminating) {
    counts = {};
    if (counts_terminating) counts.terminating = 0;
    for (const auto& [uid, pod] : pods) Count(*pod, 1);
  }

  std::int64_t AvailableAt(api::Time now) const {
    if (facts->min_ready_seconds == 0) return counts.ready;
    std::int64_t available = 0;
    for (const auto& [uid, pod] : pods) {
      if (!pod->live || !pod->ready || !facts->selector.Matches(*pod->header)) continue;
      if (now - pod->ready_since >= std::chrono::seconds(facts->min_ready_seconds)) ++available;
    }
    return available;
  }
};

class ReplicaStatus : public Rule {
 public:
  ReplicaStatus(ReplicaStatusOptions options, Report report)
      : options_(std::move(options)), report_(std::move(report)) {}

  void OnPod(const Moment& moment, const PodPtr& before, const PodPtr& after) override {
    bool stays = before != nullptr && after != nullptr && before->owner == after->owner;
    if (before != nullptr && !stays) {
      Set& left = sets_[before->owner];
      left.Count(*before, -1);
      left.pods.erase(before->header->uid);
      Changed(moment, before->owner);
    }
    if (after == nullptr) return;
    Set& set = sets_[after->owner];
    if (stays)
      set.Count(*before, -1);
    else if (!moment.created)
      set.history.Loosen();
    set.Count(*after, 1);
    set.pods[after->header->uid] = after;
    Changed(moment, after->owner);
  }

  void OnReplicaSet(const Moment& moment, const ReplicaSetPtr& before, const ReplicaSetPtr& after) override {
    const ReplicaSetFacts& any = after != nullptr ? *after : *before;
    if (!options_.resources.contains(any.resource)) return;
    const std::string& uid = any.header->uid;
    Set& set = sets_[uid];
    set.facts = after;
    bool counts_otherwise = before == nullptr || after == nullptr || before->selector != after->selector ||
                            before->template_labels != after->template_labels;
    if (counts_otherwise) {
      set.Recount(CountsTerminating(any));
      if (before != nullptr) set.history.Loosen();
    }
    Changed(moment, uid);
    // A status that another client wrote is not judged: the controller will correct it.
    if (before != nullptr && after != nullptr && before->status != after->status && moment.ByControllers())
      Judge(moment, set);
  }

  void OnDeployment(const Moment&, const DeploymentPtr&, const DeploymentPtr&) override {}

  void Excuse(bool rest) override {
    for (auto& [uid, set] : sets_) set.history.Loosen();
    if (rest) changed_.clear();
  }

  void OnIdle(const Moment& moment) override {
    std::set<std::string> again;
    for (const std::string& uid : changed_) {
      const Set& set = sets_[uid];
      if (set.facts == nullptr) continue;
      std::int64_t available = set.AvailableAt(moment.time);
      // Time alone makes pods available: check again later whether the controller noticed.
      if (available != set.counts.ready) again.insert(uid);
      if (CountsOf(set.facts->status) == set.counts && set.facts->status.available == available) continue;
      ReportViolation(
          moment, set,
          "its pods are at rest at " + set.counts.String() + ", available " + std::to_string(available));
    }
    changed_ = std::move(again);
  }

 private:
  bool CountsTerminating(const ReplicaSetFacts& facts) const {
    return options_.terminating == TerminatingCounts::kReported && facts.resource == "replicasets";
  }

  Counts CountsOf(const ReportedCounts& status) const {
    const bool is_checked = options_.terminating != TerminatingCounts::kUnknown;
    return {status.replicas, status.fully_labeled, status.ready,
            is_checked ? status.terminating : std::nullopt};
  }

  void Changed(const Moment& moment, const std::string& uid) {
    auto found = sets_.find(uid);
    Set& set = found->second;
    if (set.facts != nullptr) {
      set.history.Add(moment.revision, set.counts);
      changed_.insert(uid);
    } else {
      changed_.erase(uid);
      if (set.pods.empty()) sets_.erase(found);
    }
  }

  void Judge(const Moment& moment, Set& set) {
    const ReportedCounts& status = set.facts->status;
    std::int64_t since = set.history.since();
    if (!set.history.Matches(CountsOf(status)))
      ReportViolation(moment, set,
                      "its pods have not been so since revision " + std::to_string(since) +
                          "; now they are " + set.counts.String());
    else if (status.available > status.ready)
      ReportViolation(moment, set, "no more can be available than ready");
  }

  void ReportViolation(const Moment& moment, const Set& set, const std::string& truth) {
    const ReplicaSetFacts& facts = *set.facts;
    report_({moment.revision,
             moment.time,
             "replica-status",
             {RefOf(facts.resource, *facts.header)},
             "at revision " + std::to_string(moment.revision) + " the status of " +
                 NameOf(facts.resource, *facts.header) + " reports " + CountsOf(facts.status).String() +
                 ", available " + std::to_string(facts.status.available) + ", but " + truth});
  }

  ReplicaStatusOptions options_;
  Report report_;
  std::map<std::string, Set> sets_;  // by uid; includes owners known only from their pods
  std::set<std::string> changed_;    // since the control plane was last idle
};

}  // namespace

std::unique_ptr<Rule> MakeReplicaStatus(ReplicaStatusOptions options, Report report) {
  return std::make_unique<ReplicaStatus>(std::move(options), std::move(report));
}

}  // namespace terrarium::testbed::invariants
