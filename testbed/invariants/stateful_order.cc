#include "testbed/invariants/stateful_order.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace terrarium::testbed::invariants {
namespace {

struct Set {
  StatefulSetPtr facts;
  std::int64_t start = 0;                    // the largest first ordinal since the control plane was idle
  std::map<std::int64_t, std::string> pods;  // ordinal to uid
  std::set<std::int64_t> never_ready;        // of these
  std::set<std::int64_t> removed;            // since the control plane was idle
};

// nullopt for a pod that is not named like one of the set.
std::optional<std::int64_t> OrdinalOf(const Set& set, const PodFacts& pod) {
  const std::string& name = pod.header->name;
  const std::string prefix = set.facts->header->name + "-";
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return std::nullopt;
  std::int64_t ordinal = 0;
  const char* end = name.data() + name.size();
  auto [rest, error] = std::from_chars(name.data() + prefix.size(), end, ordinal);
  if (error != std::errc() || rest != end) return std::nullopt;
  return ordinal;
}

class StatefulOrder : public Rule {
 public:
  explicit StatefulOrder(Report report) : report_(std::move(report)) {}

  void OnPod(const Moment& moment, const PodPtr& before, const PodPtr& after) override {
    const bool stays = before != nullptr && after != nullptr && before->owner == after->owner;
    if (before != nullptr && !stays) Remove(*before);
    if (after == nullptr) return;
    auto found = sets_.find(after->owner);
    if (found == sets_.end()) return;
    Set& set = found->second;
    const std::optional<std::int64_t> ordinal = OrdinalOf(set, *after);
    if (!ordinal) return;
    if (moment.created && moment.ByControllers() && set.facts->ordered && !excused_)
      JudgeNew(moment, set, *ordinal, *after);
    const bool is_new = set.pods[*ordinal] != after->header->uid;
    set.pods[*ordinal] = after->header->uid;
    if (after->ready)
      set.never_ready.erase(*ordinal);
    else if (is_new)
      set.never_ready.insert(*ordinal);
  }

  void OnReplicaSet(const Moment&, const ReplicaSetPtr&, const ReplicaSetPtr&) override {}
  void OnDeployment(const Moment&, const DeploymentPtr&, const DeploymentPtr&) override {}

  void OnStatefulSet(const Moment&, const StatefulSetPtr& before, const StatefulSetPtr& after) override {
    if (after == nullptr) {
      sets_.erase(before->header->uid);
      return;
    }
    Set& set = sets_[after->header->uid];
    set.facts = after;
    set.start = std::max(set.start, after->start);
  }

  void OnIdle(const Moment&) override {
    excused_ = false;
    for (auto& [uid, set] : sets_) {
      set.removed.clear();
      set.start = set.facts->start;
    }
  }

  void Excuse(bool) override { excused_ = true; }

 private:
  void Remove(const PodFacts& pod) {
    auto found = sets_.find(pod.owner);
    if (found == sets_.end()) return;
    Set& set = found->second;
    const std::optional<std::int64_t> ordinal = OrdinalOf(set, pod);
    if (!ordinal) return;
    auto known = set.pods.find(*ordinal);
    if (known == set.pods.end() || known->second != pod.header->uid) return;
    set.pods.erase(known);
    set.never_ready.erase(*ordinal);
    set.removed.insert(*ordinal);
  }

  void JudgeNew(const Moment& moment, const Set& set, std::int64_t ordinal, const PodFacts& pod) {
    const std::int64_t previous = ordinal - 1;
    if (ordinal > set.start && !set.pods.contains(previous) && !set.removed.contains(previous))
      return ReportViolation(moment, set, pod, "ordinal " + std::to_string(previous) + " has no pod");
    auto waiting = set.never_ready.lower_bound(set.start);
    if (waiting != set.never_ready.end() && *waiting < ordinal)
      ReportViolation(moment, set, pod,
                      "the pod of ordinal " + std::to_string(*waiting) + " has never been ready");
  }

  void ReportViolation(const Moment& moment, const Set& set, const PodFacts& pod, const std::string& why) {
    const api::ObjectHeader& header = *set.facts->header;
    report_({moment.revision,
             moment.time,
             "stateful-order",
             {RefOf("statefulsets", header), RefOf("pods", *pod.header)},
             "at revision " + std::to_string(moment.revision) + " " + NameOf("statefulsets", header) +
                 " creates pod " + pod.header->name + " though " + why});
  }

  Report report_;
  std::map<std::string, Set> sets_;  // by uid
  bool excused_ = false;
};

}  // namespace

std::unique_ptr<Rule> MakeStatefulOrder(Report report) {
  return std::make_unique<StatefulOrder>(std::move(report));
}

}  // namespace terrarium::testbed::invariants
