#include "controllers/daemonset/internal/node_plan.h"

#include <algorithm>
#include <tuple>

#include "controllers/history/revision.h"

namespace terrarium::controllers::daemonset {
namespace {

using Pods = std::vector<const DaemonPod*>;

bool HasLabel(const DaemonPod& pod, std::string_view key, const std::string& value) {
  const std::string* label = api::FindLabel(pod.pod->header(), key);
  return label != nullptr && *label == value;
}

bool HasHash(const DaemonPod& pod, const PlanRules& rules) {
  return HasLabel(pod, history::kRevisionHashLabel, rules.hash);
}

// Bound pods first, then by age.
bool ComesFirst(const DaemonPod* a, const DaemonPod* b) {
  if (a->bound != b->bound) return a->bound;
  return std::tie(a->created, a->pod->header().name) < std::tie(b->created, b->pod->header().name);
}

class Planner {
 public:
  Planner(bool exists, NodeFit fit, Pods pods, const PlanRules& rules, api::Time now)
      : exists_(exists), fit_(fit), pods_(std::move(pods)), rules_(rules), now_(now) {
    // Pods that have ended and are being deleted are left to the kubelet and the pod garbage collector.
    std::erase_if(pods_, [](const DaemonPod* pod) { return pod->deleting && api::IsTerminal(pod->phase); });
    std::sort(pods_.begin(), pods_.end(), ComesFirst);
  }

  NodePlan Make() {
    if (exists_) {
      CountStatus();
      Manage();
    } else {
      // The scheduler cannot bind these, and the pod garbage collector leaves unbound pods alone.
      for (const DaemonPod* pod : pods_)
        if (!pod->bound && !pod->deleting) plan_.surplus.push_back(pod);
    }
    Roll();
    for (const DaemonPod* pod : pods_) {
      const api::Time from = pod->AvailableFrom(rules_.min_ready);
      if (from > now_) plan_.changes_at = std::min(plan_.changes_at, from);
    }
    return std::move(plan_);
  }

 private:
  bool Available(const DaemonPod& pod) const {
    const api::Time from = pod.AvailableFrom(rules_.min_ready);
    return from != kNoTime && from <= now_;
  }

  // Of several pods the first one counts, even if it is being deleted.
  void CountStatus() {
    plan_.desired = fit_.should_run;
    if (pods_.empty()) return;
    if (!fit_.should_run) {
      plan_.misscheduled = true;
      return;
    }
    const DaemonPod& pod = *pods_.front();
    plan_.current = true;
    plan_.ready = pod.ready;
    plan_.available = Available(pod);
    plan_.updated = IsUpdated(pod, rules_);
  }

  void Manage() {
    if (fit_.should_run && pods_.empty()) {
      plan_.create = true;
      return;
    }
    if (!fit_.may_stay) {
      for (const DaemonPod* pod : pods_)
        if (!pod->deleting) plan_.surplus.push_back(pod);
      return;
    }
    Pods running;
    for (const DaemonPod* pod : pods_)
      if (!pod->deleting) (api::IsTerminal(pod->phase) ? plan_.ended : running).push_back(pod);
    if (rules_.surge) {
      plan_.create = running.empty() && fit_.should_run;
      KeepOldAndNew(running);
    } else if (running.size() > 1) {
      plan_.surplus.assign(running.begin() + 1, running.end());
    }
  }

  // Two pods are kept while the old one is ready and the new one not yet available.
  void KeepOldAndNew(const Pods& running) {
    if (running.size() <= 1) return;
    const DaemonPod* oldest_new = nullptr;
    const DaemonPod* oldest_old = nullptr;
    for (const DaemonPod* pod : running) {
      const DaemonPod*& kept = HasHash(*pod, rules_) ? oldest_new : oldest_old;
      if (kept == nullptr)
        kept = pod;
      else
        plan_.surplus.push_back(pod);
    }
    if (oldest_new == nullptr || oldest_old == nullptr) return;
    if (!oldest_old->ready || Available(*oldest_new)) plan_.surplus.push_back(oldest_old);
  }

  void Roll() {
    if (pods_.empty() && !plan_.desired) return;
    const DaemonPod* new_pod = nullptr;
    const DaemonPod* old_pod = nullptr;
    for (const DaemonPod* pod : pods_) {
      if (pod->deleting) continue;
      const DaemonPod*& found = IsUpdated(*pod, rules_) ? new_pod : old_pod;
      if (found != nullptr) {
        plan_.step = RolloutStep::kWait;  // Manage() removes the surplus first
        return;
      }
      found = pod;
    }
    if (rules_.surge)
      RollWithSurge(new_pod, old_pod);
    else
      RollInPlace(new_pod, old_pod);
    if (plan_.step != RolloutStep::kNone && plan_.step != RolloutStep::kWait) plan_.old = old_pod;
  }

  void RollInPlace(const DaemonPod* new_pod, const DaemonPod* old_pod) {
    if ((new_pod == nullptr) == (old_pod == nullptr))
      plan_.step = RolloutStep::kWait;
    else if (new_pod != nullptr)
      plan_.step = Available(*new_pod) ? RolloutStep::kNone : RolloutStep::kWait;
    else
      plan_.step = Available(*old_pod) ? RolloutStep::kCandidate : RolloutStep::kReplace;
  }

  void RollWithSurge(const DaemonPod* new_pod, const DaemonPod* old_pod) {
    const DaemonPod* serving = old_pod != nullptr ? old_pod : new_pod;
    plan_.serves = serving != nullptr && Available(*serving);
    if (old_pod == nullptr) return;
    if (new_pod != nullptr)
      plan_.step = Available(*new_pod) ? RolloutStep::kRetire : RolloutStep::kWait;
    else if (!exists_)
      plan_.step = RolloutStep::kLost;
    else if (fit_.should_run)
      plan_.step = plan_.serves ? RolloutStep::kCandidate : RolloutStep::kReplace;
    else
      plan_.step = plan_.serves ? RolloutStep::kUnfit : RolloutStep::kRetire;
  }

  const bool exists_;
  const NodeFit fit_;
  Pods pods_;
  const PlanRules& rules_;
  const api::Time now_;
  NodePlan plan_;
};

}  // namespace

bool IsUpdated(const DaemonPod& pod, const PlanRules& rules) {
  if (!rules.generation.empty() && HasLabel(pod, kGenerationLabel, rules.generation)) return true;
  return !rules.hash.empty() && HasHash(pod, rules);
}

NodePlan PlanNode(bool exists, NodeFit fit, Pods pods, const PlanRules& rules, api::Time now) {
  return Planner(exists, fit, std::move(pods), rules, now).Make();
}

}  // namespace terrarium::controllers::daemonset
