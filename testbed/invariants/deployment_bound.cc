#include "testbed/invariants/deployment_bound.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace terrarium::testbed::invariants {
namespace {

struct Set {
  ReplicaSetPtr facts;            // nullptr: deleted, or not seen yet
  std::int64_t replicas_max = 0;  // the largest spec.replicas that its controller may still be acting on
  // Uids of the pods that it controls and selects.
  std::set<std::string> live;
  std::set<std::string> terminating;
  std::set<std::string> excused;  // terminating, deleted by another client

  std::int64_t Live() const { return static_cast<std::int64_t>(live.size()); }
  std::int64_t Terminating() const { return static_cast<std::int64_t>(terminating.size()); }
  std::int64_t Count() const { return std::max(facts->replicas, Live()) + Terminating(); }
  bool Selects(const PodFacts& pod) const { return facts != nullptr && facts->selector.Matches(*pod.header); }
  bool Unneeded() const { return facts == nullptr && live.empty() && terminating.empty() && excused.empty(); }
};

struct Deployment {
  DeploymentPtr facts;                // nullptr: deleted, or not seen yet
  std::optional<std::int64_t> limit;  // nullopt: unlimited
  std::int64_t count = 0;
  std::set<std::string> sets;  // uids

  bool Unneeded() const { return facts == nullptr && sets.empty(); }
};

std::optional<std::int64_t> LimitOf(const DeploymentFacts& facts) {
  if (!facts.waits_for_termination) return std::nullopt;
  return facts.replicas + facts.surge;
}

class DeploymentBound : public Rule {
 public:
  explicit DeploymentBound(Report report) : report_(std::move(report)) {}

  void OnPod(const Moment& moment, const PodPtr& before, const PodPtr& after) override {
    bool stays = before != nullptr && after != nullptr && before->owner == after->owner;
    if (stays && before->live == after->live && before->terminating == after->terminating &&
        before->header->labels == after->header->labels)
      return;
    if (before != nullptr && !stays)
      Apply(before->owner, [&](Set& set) { Remove(set, before->header->uid); });
    if (after == nullptr) return;
    std::int64_t grown = Apply(after->owner, [&](Set& set) { Put(set, *after); });
    // A pod that existed before was adopted.
    if (!moment.created || !moment.ByControllers() || grown <= 0) return;
    const Set& set = sets_[after->owner];
    if (set.Live() > set.replicas_max) Judge(moment, set, "creates pod " + after->header->name);
  }

  void OnReplicaSet(const Moment& moment, const ReplicaSetPtr& before, const ReplicaSetPtr& after) override {
    const ReplicaSetPtr& any = after != nullptr ? after : before;
    if (any->resource != "replicasets") return;
    const std::string& uid = any->header->uid;
    bool same_owner = before != nullptr && after != nullptr && before->owner == after->owner;
    std::int64_t grown = 0;
    if (same_owner) {
      grown = Apply(uid, [&](Set& set) { SetFacts(set, after); });
    } else {
      if (before != nullptr) Leave(uid, before->owner);
      SetFacts(sets_[uid], after);
      if (after != nullptr)
        grown = Join(uid, after->owner);
      else
        EraseIfUnneeded(uid);
    }
    if (after == nullptr || !moment.ByControllers() || grown <= 0) return;
    if (same_owner)
      Judge(moment, sets_[uid], "is scaled to " + std::to_string(after->replicas));
    else if (moment.created)
      Judge(moment, sets_[uid], "is created with " + std::to_string(after->replicas));
  }

  void OnDeployment(const Moment&, const DeploymentPtr& before, const DeploymentPtr& after) override {
    const std::string& uid = (after != nullptr ? after : before)->header->uid;
    Deployment& deployment = deployments_[uid];
    deployment.facts = after;
    if (after != nullptr) {
      std::optional<std::int64_t> limit = LimitOf(*after);
      bool seen = before == nullptr || after->observed_generation >= after->generation;
      if (seen)
        deployment.limit = limit;
      else if (!limit || !deployment.limit)
        deployment.limit = std::nullopt;
      else
        deployment.limit = std::max(*limit, *deployment.limit);
    }
    if (deployment.Unneeded()) deployments_.erase(uid);
  }

 private:
  // Changes a ReplicaSet and returns by how much the count of its Deployment grew.
  template <typename Change>
  std::int64_t Apply(const std::string& uid, Change change) {
    Set& set = sets_[uid];
    auto counted = [&set] { return set.facts == nullptr ? 0 : set.Count(); };
    std::int64_t before = counted();
    change(set);
    std::int64_t grown = counted() - before;
    if (set.facts != nullptr && !set.facts->owner.empty()) deployments_[set.facts->owner].count += grown;
    EraseIfUnneeded(uid);
    return grown;
  }

  static void SetFacts(Set& set, const ReplicaSetPtr& facts) {
    set.facts = facts;
    if (facts == nullptr) return;
    bool seen = facts->observed_generation >= facts->generation;
    set.replicas_max = seen ? facts->replicas : std::max(set.replicas_max, facts->replicas);
  }

  static void Remove(Set& set, const std::string& uid) {
    set.live.erase(uid);
    set.terminating.erase(uid);
    set.excused.erase(uid);
  }

  static void Put(Set& set, const PodFacts& pod) {
    const std::string& uid = pod.header->uid;
    bool was_live = set.live.contains(uid);
    bool was_terminating = set.terminating.contains(uid);
    bool surplus = set.facts != nullptr && set.Live() > set.facts->replicas;
    Remove(set, uid);
    if (!set.Selects(pod)) return;
    if (pod.live) set.live.insert(uid);
    if (!pod.terminating) return;
    // A ReplicaSet deletes pods only while it has too many. A pod that was already terminating when it was
    // added was deleted by another client, too.
    bool counts = was_terminating || (was_live && surplus);
    (counts ? set.terminating : set.excused).insert(uid);
  }

  void Leave(const std::string& uid, const std::string& owner) {
    if (owner.empty()) return;
    Deployment& deployment = deployments_[owner];
    deployment.sets.erase(uid);
    deployment.count -= sets_[uid].Count();
    if (deployment.Unneeded()) deployments_.erase(owner);
  }

  std::int64_t Join(const std::string& uid, const std::string& owner) {
    if (owner.empty()) return 0;
    Deployment& deployment = deployments_[owner];
    deployment.sets.insert(uid);
    std::int64_t count = sets_[uid].Count();
    deployment.count += count;
    return count;
  }

  void EraseIfUnneeded(const std::string& uid) {
    auto found = sets_.find(uid);
    if (found != sets_.end() && found->second.Unneeded()) sets_.erase(found);
  }

  // REQUIRES: the count of the Deployment of `set` has just grown.
  void Judge(const Moment& moment, const Set& set, const std::string& what) {
    if (set.facts == nullptr) return;
    auto found = deployments_.find(set.facts->owner);
    if (found == deployments_.end()) return;
    const Deployment& deployment = found->second;
    if (deployment.facts == nullptr || !deployment.limit || deployment.count <= *deployment.limit) return;
    const DeploymentFacts& facts = *deployment.facts;
    Violation violation{
        moment.revision, moment.time, "deployment-bound", {RefOf("deployments", *facts.header)}, ""};
    std::string& text = violation.text;
    text = "at revision " + std::to_string(moment.revision) + " " +
           NameOf(set.facts->resource, *set.facts->header) + " " + what + ", and " +
           NameOf("deployments", *facts.header) + " grows to " + std::to_string(deployment.count) +
           " pods where " + std::to_string(*deployment.limit) + " are allowed (replicas " +
           std::to_string(facts.replicas) + ", surge " + std::to_string(facts.surge) + "). Counted:";
    for (const std::string& uid : deployment.sets) {
      const Set& each = sets_[uid];
      if (each.Count() == 0) continue;
      violation.objects.push_back(RefOf(each.facts->resource, *each.facts->header));
      text += " " + each.facts->header->name + " max(spec " + std::to_string(each.facts->replicas) +
              ", live " + std::to_string(each.Live()) + ") + " + std::to_string(each.Terminating()) +
              " terminating";
      if (!each.excused.empty())
        text += " (not counted: " + std::to_string(each.excused.size()) + " deleted by others)";
      text += ";";
    }
    text.pop_back();
    report_(violation);
  }

  Report report_;
  std::map<std::string, Set> sets_;  // by uid; includes ReplicaSets known only from their pods
  std::map<std::string, Deployment> deployments_;
};

}  // namespace

std::unique_ptr<Rule> MakeDeploymentBound(Report report) {
  return std::make_unique<DeploymentBound>(std::move(report));
}

}  // namespace terrarium::testbed::invariants
