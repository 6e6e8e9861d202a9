#include "controllers/daemonset/internal/daemon_nodes.h"

#include "controllers/history/revision.h"

namespace terrarium::controllers::daemonset {

void DaemonCounts::Add(const NodePlan& plan, int sign) {
  desired += sign * plan.desired;
  current += sign * plan.current;
  misscheduled += sign * plan.misscheduled;
  ready += sign * plan.ready;
  available += sign * plan.available;
  updated += sign * plan.updated;
  serving += sign * plan.serves;
  waiting += sign * (plan.step == RolloutStep::kWait);
}

void DaemonNodes::SetRules(PlanRules rules, api::Time now) {
  if (rules == rules_) return;
  rules_ = std::move(rules);
  for (auto& [name, node] : nodes_) {
    Leave(node);
    Enter(node, now);
  }
}

void DaemonNodes::SetNode(const NodeState& state, api::Time now) {
  auto known = nodes_.find(state.name);
  if (known == nodes_.end()) {
    if (!state.fit.should_run) return;
    known = nodes_.try_emplace(state.name).first;
  }
  Node& node = known->second;
  NodeState& before = node;
  if (before == state) return;
  Leave(node);
  before = state;
  Enter(node, now);
  DropIfUnused(node);
}

void DaemonNodes::AddPod(const NodeState& state, const DaemonPod& pod, api::Time now) {
  Node& node = nodes_[state.name];
  Leave(node);
  static_cast<NodeState&>(node) = state;
  node.pods.insert(&pod);
  const std::string_view hash = history::HashOf(*pod.pod);
  if (!hash.empty()) ++hashes_[std::string(hash)];
  Enter(node, now);
}

void DaemonNodes::RemovePod(const std::string& name, const DaemonPod& pod, api::Time now) {
  Node& node = nodes_.find(name)->second;
  Leave(node);
  node.pods.erase(&pod);
  auto hash = hashes_.find(history::HashOf(*pod.pod));
  if (hash != hashes_.end() && --hash->second == 0) hashes_.erase(hash);
  Enter(node, now);
  DropIfUnused(node);
}

void DaemonNodes::Advance(api::Time now) {
  while (!timed_.empty() && timed_.begin()->first <= now) {
    Node& node = *timed_.begin()->second;
    Leave(node);
    Enter(node, now);
  }
}

const DaemonNodes::NodeSet& DaemonNodes::At(RolloutStep step) const {
  static const NodeSet kNone;
  auto found = steps_.find(step);
  return found == steps_.end() ? kNone : found->second;
}

const DaemonNodes::Node* DaemonNodes::Find(const std::string& name) const {
  auto found = nodes_.find(name);
  return found == nodes_.end() ? nullptr : &found->second;
}

void DaemonNodes::DropIfUnused(Node& node) {
  if (!node.pods.empty() || node.fit.should_run) return;
  Leave(node);
  nodes_.erase(nodes_.find(node.name));
}

void DaemonNodes::Leave(Node& node) {
  counts_.Add(node.plan, -1);
  busy_.erase(&node);
  if (node.plan.step != RolloutStep::kNone) steps_[node.plan.step].erase(&node);
  timed_.erase({node.plan.changes_at, &node});
}

void DaemonNodes::Enter(Node& node, api::Time now) {
  node.plan = PlanNode(node.exists, node.fit, {node.pods.begin(), node.pods.end()}, rules_, now);
  counts_.Add(node.plan, +1);
  if (node.plan.IsBusy()) busy_.insert(&node);
  if (node.plan.step != RolloutStep::kNone) steps_[node.plan.step].insert(&node);
  if (node.plan.changes_at != kNoTime) timed_.emplace(node.plan.changes_at, &node);
}

}  // namespace terrarium::controllers::daemonset
