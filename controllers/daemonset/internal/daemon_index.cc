#include "controllers/daemonset/internal/daemon_index.h"

#include <algorithm>
#include <utility>

#include "api/json_access.h"

namespace terrarium::controllers::daemonset {

bool DaemonIndex::HasRules(const ObjectName& name, const std::string& uid, std::int64_t generation) const {
  auto owner = owners_.find(name);
  if (owner == owners_.end()) return false;
  const OwnerRules& rules = owner->second->second.rules;
  return rules.uid == uid && rules.generation == generation;
}

void DaemonIndex::SetOwner(const ObjectName& name, OwnerRules rules) {
  auto before = owners_.find(name);
  if (before != owners_.end() && before->second->second.rules.uid != rules.uid) RemoveOwner(name);
  Groups::iterator place = groups_.try_emplace(OwnerKey(name, rules.uid)).first;
  owners_[name] = place;
  Group& group = place->second;
  for (Held* held : group.pods) Uncount(*held);
  group.known = true;
  group.rules = std::move(rules);
  selectors_.Set(name, group.rules.selector);
  for (const auto& [node, info] : nodes_) group.nodes.SetNode(StateOf(group, node), clock_.Now());
  for (Held* held : group.pods) Count(*held);
}

void DaemonIndex::RemoveOwner(const ObjectName& name) {
  auto owner = owners_.find(name);
  if (owner == owners_.end()) return;
  Groups::iterator place = owner->second;
  owners_.erase(owner);
  selectors_.Remove(name);
  for (Held* held : place->second.pods) held->counted = false;
  static_cast<Owner&>(place->second) = Owner{};
  DropIfUnused(place);
}

DaemonIndex::Owner* DaemonIndex::Find(const ObjectName& name) {
  auto owner = owners_.find(name);
  return owner == owners_.end() ? nullptr : &owner->second->second;
}

std::vector<ObjectName> DaemonIndex::PutNode(const ObjectPtr& node) {
  api::Json taints = api::ListAt(*node->Document(), "spec", "taints");
  NodeInfo& info = nodes_[node->header().name];
  const bool same = info.object != nullptr && info.object->header().labels == node->header().labels &&
                    info.taints == taints;
  info = {node, std::move(taints)};
  std::vector<ObjectName> affected;
  if (same) return affected;
  for (const auto& [name, place] : owners_) {
    Group& group = place->second;
    const NodeState state = StateOf(group, node->header().name);
    group.nodes.SetNode(state, clock_.Now());
    const DaemonNodes::Node* known = group.nodes.Find(state.name);
    const bool scheduled = known != nullptr && std::any_of(known->pods.begin(), known->pods.end(),
                                                           [](const DaemonPod* pod) { return pod->bound; });
    if (scheduled ? !state.fit.may_stay || group.reported_misscheduled > 0 : state.fit.should_run)
      affected.push_back(name);
  }
  return affected;
}

void DaemonIndex::RemoveNode(const std::string& name) {
  nodes_.erase(name);
  for (auto& [owner, place] : owners_) place->second.nodes.SetNode({.name = name}, clock_.Now());
}

NodeState DaemonIndex::StateOf(const Group& group, const std::string& node) const {
  NodeState state{.name = node};
  auto info = nodes_.find(node);
  if (info == nodes_.end()) return state;
  state.exists = true;
  state.fit = group.rules.placement.Fit(info->second.object->header(), info->second.taints);
  return state;
}

void DaemonIndex::Count(Held& held) {
  Group& group = held.group->second;
  if (!group.known) return;
  if (!group.rules.selector.Matches(held.pod->header())) {
    group.strays.insert(held.pod->header().name);
    return;
  }
  if (held.node.empty()) return;
  group.nodes.AddPod(StateOf(group, held.node), held, clock_.Now());
  held.counted = true;
}

void DaemonIndex::Uncount(Held& held) {
  if (held.counted) held.group->second.nodes.RemovePod(held.node, held, clock_.Now());
  held.counted = false;
}

void DaemonIndex::DropIfUnused(Groups::iterator group) {
  if (!group->second.known && group->second.pods.empty()) groups_.erase(group);
}

std::vector<DaemonIndex::Effect> DaemonIndex::PutPod(const ObjectPtr& pod) {
  std::vector<Effect> effects;
  const api::OwnerReference* controller = pod->controller();
  const bool ours = controller != nullptr && controller->kind == "DaemonSet";
  auto known = pods_.find(pod->name());
  if (known != pods_.end()) {
    const Held& held = *known->second;
    const bool same_pod = held.pod->header().uid == pod->header().uid;
    if (same_pod && held.pod->revision() > pod->revision()) return effects;
    if (!same_pod || !ours || std::get<1>(held.group->first) != controller->uid)
      effects = RemovePod(*held.pod);
  }
  if (controller == nullptr && !pod->header().deleting) {
    for (ObjectName& owner : selectors_.Matching(pod->header())) {
      owners_.at(owner)->second.adoptable.insert(pod->header().name);
      effects.push_back({std::move(owner), Effect::Relation::kMayAdopt});
    }
  }
  if (!ours) return effects;

  std::unique_ptr<Held>& held = pods_[pod->name()];
  const bool is_new = held == nullptr;
  if (is_new) {
    held = std::make_unique<Held>();
    held->group =
        groups_.try_emplace(OwnerKey(ObjectName{pod->name().ns, controller->name}, controller->uid)).first;
    held->group->second.pods.insert(held.get());
  } else {
    Uncount(*held);
  }
  std::shared_ptr<const api::Json> document = pod->Document();
  static_cast<DaemonPod&>(*held) = ReadDaemonPod(pod, *document);
  held->node = TargetNode(*pod, *document);
  Count(*held);
  if (held->group->second.known)
    effects.push_back({std::get<0>(held->group->first), Effect::Relation::kControls});
  return effects;
}

std::vector<DaemonIndex::Effect> DaemonIndex::RemovePod(const api::Object& pod) {
  std::vector<Effect> effects;
  auto known = pods_.find(pod.name());
  if (known == pods_.end() || known->second->pod->header().uid != pod.header().uid) return effects;
  Held& held = *known->second;
  Uncount(held);
  Groups::iterator group = held.group;
  if (group->second.known)
    effects.push_back({std::get<0>(group->first), Effect::Relation::kControlledBefore});
  group->second.pods.erase(&held);
  pods_.erase(known);
  DropIfUnused(group);
  return effects;
}

}  // namespace terrarium::controllers::daemonset
