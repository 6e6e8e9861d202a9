#include "testbed/invariants/daemon_pods.h"

#include <map>
#include <string>
#include <utility>

namespace terrarium::testbed::invariants {
namespace {

using Key = std::pair<std::string, std::string>;  // node and uid
Key KeyOf(const PodFacts& pod) { return {pod.daemon_node, pod.header->uid}; }

struct DaemonSet {
  DaemonSetPtr facts;
  bool surges = false;            // as the controller may still see it
  std::map<Key, PodPtr> running;  // those that have not ended
};

class DaemonPods : public Rule {
 public:
  explicit DaemonPods(Report report) : report_(std::move(report)) {}

  void OnPod(const Moment& moment, const PodPtr& before, const PodPtr& after) override {
    bool known = false;
    if (before != nullptr)
      if (auto found = sets_.find(before->owner); found != sets_.end())
        known = found->second.running.erase(KeyOf(*before)) > 0;
    if (after == nullptr || after->daemon_node.empty()) return;
    auto found = sets_.find(after->owner);
    if (found == sets_.end()) return;
    DaemonSet& set = found->second;
    const bool made = moment.created && moment.ByControllers();
    const bool runs = after->live || after->terminating;
    if (!(made || known) || !runs || !set.facts->selector.Matches(*after->header)) return;
    if (made) JudgeNew(moment, set, *after);
    set.running[KeyOf(*after)] = after;
  }

  void OnReplicaSet(const Moment&, const ReplicaSetPtr&, const ReplicaSetPtr&) override {}
  void OnDeployment(const Moment&, const DeploymentPtr&, const DeploymentPtr&) override {}

  void OnDaemonSet(const Moment&, const DaemonSetPtr& before, const DaemonSetPtr& after) override {
    if (after == nullptr) {
      sets_.erase(before->header->uid);
      return;
    }
    DaemonSet& set = sets_[after->header->uid];
    set.facts = after;
    const bool seen = after->observed_generation >= after->generation;
    set.surges = after->surges || (set.surges && !seen);
  }

 private:
  void JudgeNew(const Moment& moment, const DaemonSet& set, const PodFacts& pod) {
    int others = 0;
    std::string names;
    for (auto it = set.running.lower_bound({pod.daemon_node, ""});
         it != set.running.end() && it->first.first == pod.daemon_node; ++it) {
      if (set.surges && !it->second->live) continue;
      ++others;
      names += " " + it->second->header->name;
    }
    if (others <= (set.surges ? 1 : 0)) return;
    const api::ObjectHeader& header = *set.facts->header;
    report_({moment.revision,
             moment.time,
             "daemon-pods",
             {RefOf("daemonsets", header), RefOf("pods", *pod.header)},
             "at revision " + std::to_string(moment.revision) + " " + NameOf("daemonsets", header) +
                 " creates pod " + pod.header->name + " for " + pod.daemon_node + ", which has" + names});
  }

  Report report_;
  std::map<std::string, DaemonSet> sets_;  // by uid
};

}  // namespace

std::unique_ptr<Rule> MakeDaemonPods(Report report) {
  return std::make_unique<DaemonPods>(std::move(report));
}

}  // namespace terrarium::testbed::invariants
