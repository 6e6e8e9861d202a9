#pragma once

// The nodes of one DaemonSet with their pods and plans, and the sums over them. A change of a node or a pod
// plans that node again and nothing else, so its cost does not grow with the number of nodes. Pure.

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "controllers/daemonset/internal/node_plan.h"

namespace terrarium::controllers::daemonset {

// Sums over all nodes.
struct DaemonCounts {
  int desired = 0;
  int current = 0;
  int misscheduled = 0;
  int ready = 0;
  int available = 0;
  int updated = 0;
  int serving = 0;  // nodes with NodePlan::serves
  int waiting = 0;  // nodes in RolloutStep::kWait

  void Add(const NodePlan& plan, int sign);
};

struct NodeState {
  std::string name;
  bool exists = false;
  NodeFit fit = {};

  friend bool operator==(const NodeState&, const NodeState&) = default;
};

class DaemonNodes {
 public:
  struct Node : NodeState {
    std::set<const DaemonPod*> pods;
    NodePlan plan;
  };
  struct ByName {
    bool operator()(const Node* a, const Node* b) const { return a->name < b->name; }
  };
  using NodeSet = std::set<const Node*, ByName>;

  // Plans all nodes again if the rules have changed.
  void SetRules(PlanRules rules, api::Time now);
  const PlanRules& rules() const { return rules_; }
  void SetNode(const NodeState& state, api::Time now);
  // `pod` stays valid until it is removed. A pod that changes is removed before and added after. `state` is
  // that of its node.
  void AddPod(const NodeState& state, const DaemonPod& pod, api::Time now);
  void RemovePod(const std::string& node, const DaemonPod& pod, api::Time now);
  // Plans the nodes again whose plans change with time. REQUIRES: `now` does not go back from call to call.
  void Advance(api::Time now);

  const DaemonCounts& counts() const { return counts_; }
  // Nodes with pods to create or to delete regardless of a rolling update.
  const NodeSet& busy() const { return busy_; }
  const NodeSet& At(RolloutStep step) const;
  // When the next plan changes with time; kNoTime: never.
  api::Time NextChange() const { return timed_.empty() ? kNoTime : timed_.begin()->first; }
  // Whether a pod, even one that has ended, has this revision.
  bool IsInUse(std::string_view hash) const { return hashes_.contains(hash); }
  // nullptr: neither a pod nor a place for one there.
  const Node* Find(const std::string& name) const;

 private:
  void Leave(Node& node);
  void Enter(Node& node, api::Time now);
  void DropIfUnused(Node& node);

  PlanRules rules_;
  std::map<std::string, Node, std::less<>> nodes_;
  DaemonCounts counts_;
  NodeSet busy_;
  std::map<RolloutStep, NodeSet> steps_;
  std::set<std::pair<api::Time, Node*>> timed_;
  std::map<std::string, int, std::less<>> hashes_;  // pods by their revision
};

}  // namespace terrarium::controllers::daemonset
