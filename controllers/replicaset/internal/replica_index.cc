#include "controllers/replicaset/internal/replica_index.h"

#include <utility>

#include "api/core_v1/pod.h"

namespace terrarium::controllers::replicaset {
namespace {

using Effect = ReplicaIndex::Effect;

Effect::Change Difference(PodShare before, const PodShare& after) {
  if (before == after) return Effect::Change::kNone;
  before.terminating = after.terminating;
  return before == after ? Effect::Change::kTerminating : Effect::Change::kAny;
}

}  // namespace

std::optional<ReplicaIndex::OwnerKey> ReplicaIndex::KeyOf(const api::Object& pod) const {
  const std::string& ns = pod.name().ns;
  const api::OwnerReference* controller = pod.controller();
  if (controller == nullptr) {
    // Orphans are kept for adoption only.
    if (pod.header().deleting || api::IsPodTerminal(pod)) return std::nullopt;
    return OwnerKey(ObjectName{ns, ""}, "");
  }
  if (controller->kind != kind_) return std::nullopt;
  return OwnerKey(ObjectName{ns, controller->name}, controller->uid);
}

void ReplicaIndex::Join(Held& held, Groups::iterator group) {
  held.group = group;
  held.slot = group->second.pods.size();
  group->second.pods.push_back(&held);
}

void ReplicaIndex::Leave(Held& held) {
  std::vector<OwnedPod*>& pods = held.group->second.pods;
  pods[held.slot] = pods.back();
  static_cast<Held*>(pods[held.slot])->slot = held.slot;
  pods.pop_back();
}

NodeNumber ReplicaIndex::NumberOf(std::string_view node) {
  auto known = node_numbers_.find(node);
  if (known != node_numbers_.end()) return known->second;
  return node_numbers_.emplace(node, static_cast<NodeNumber>(node_numbers_.size())).first->second;
}

void ReplicaIndex::Count(Held& held) {
  PodGroup& group = held.group->second;
  held.share = PodShare{};
  if (!group.rules) return;
  const api::ObjectHeader& header = held.pod->header();
  const bool selected = group.rules->selector.Matches(header);
  held.share = ShareOf(held.facts, selected, group.rules->template_labels.Matches(header));
  group.counts.Add(held.share);
  if (held.share.live) ++group.live_by_node[held.node];
  if (held.facts.active && !selected) group.strays.insert(header.name);
}

void ReplicaIndex::Uncount(const Held& held) {
  PodGroup& group = held.group->second;
  if (!group.rules) return;
  group.counts.Remove(held.share);
  if (held.share.live && --group.live_by_node[held.node] == 0) group.live_by_node.erase(held.node);
  if (!group.strays.empty()) group.strays.erase(held.pod->header().name);
}

void ReplicaIndex::SetAdoptable(const api::Object& orphan, bool adoptable, std::vector<Effect>& effects) {
  const api::ObjectHeader& header = orphan.header();
  for (ObjectName& owner : selectors_.Matching(header)) {
    std::set<std::string>& names = owners_.at(owner)->second.adoptable;
    if (adoptable)
      names.insert(header.name);
    else
      names.erase(header.name);
    effects.push_back({std::move(owner), Effect::Relation::kMayAdopt, Effect::Change::kAny});
  }
}

void ReplicaIndex::DropIfUnused(Groups::iterator group) {
  if (!group->second.rules && group->second.pods.empty()) groups_.erase(group);
}

std::vector<Effect> ReplicaIndex::PutPod(const ObjectPtr& pod) {
  std::optional<OwnerKey> key = KeyOf(*pod);
  auto place = pods_.find(pod->name());
  std::vector<Effect> effects;
  const bool outdated = place != pods_.end() && place->second.pod->header().uid == pod->header().uid &&
                        place->second.pod->revision() > pod->revision();
  if (outdated) return effects;
  if (place != pods_.end() && (!key || place->second.group->first != *key)) {
    effects = RemovePod(*place->second.pod);
    place = pods_.end();
  }
  if (!key) return effects;
  if (place == pods_.end()) {
    place = pods_.emplace(pod->name(), Held{}).first;
    Join(place->second, groups_.try_emplace(std::move(*key)).first);
  }
  if (OfOrphans(place->second.group))
    PutOrphan(place->second, pod, effects);
  else
    PutOwned(place->second, pod, effects);
  return effects;
}

void ReplicaIndex::PutOrphan(Held& held, const ObjectPtr& pod, std::vector<Effect>& effects) {
  const ObjectPtr before = std::exchange(held.pod, pod);
  if (before != nullptr) {
    if (before->header().labels == pod->header().labels) return;
    SetAdoptable(*before, false, effects);
  }
  SetAdoptable(*pod, true, effects);
}

void ReplicaIndex::PutOwned(Held& held, const ObjectPtr& pod, std::vector<Effect>& effects) {
  PodGroup& group = held.group->second;
  const PodShare before = held.share;
  const std::size_t strays = group.strays.size();
  if (held.pod != nullptr) Uncount(held);
  held.pod = pod;
  held.facts = FactsOf(*pod, *pod->Document());
  held.node = NumberOf(api::PodNodeName(*pod));
  Count(held);
  if (!group.rules) return;
  const Effect::Change change =
      group.strays.size() != strays ? Effect::Change::kAny : Difference(before, held.share);
  effects.push_back({std::get<0>(held.group->first), Effect::Relation::kControls, change});
}

std::vector<Effect> ReplicaIndex::RemovePod(const api::Object& pod) {
  std::vector<Effect> effects;
  auto place = pods_.find(pod.name());
  if (place == pods_.end() || place->second.pod->header().uid != pod.header().uid) return effects;
  Held& held = place->second;
  Groups::iterator group = held.group;
  if (OfOrphans(group)) {
    SetAdoptable(*held.pod, false, effects);
  } else {
    const std::size_t strays = group->second.strays.size();
    Uncount(held);
    const Effect::Change change =
        group->second.strays.size() != strays ? Effect::Change::kAny : Difference(held.share, PodShare{});
    if (group->second.rules)
      effects.push_back({std::get<0>(group->first), Effect::Relation::kControlledBefore, change});
  }
  Leave(held);
  pods_.erase(place);
  DropIfUnused(group);
  return effects;
}

void ReplicaIndex::SetOwner(const ObjectName& name, OwnerRules rules) {
  auto known = owners_.find(name);
  if (known != owners_.end()) {
    if (known->second->second.rules == rules) return;
    RemoveOwner(name);
  }
  Groups::iterator place = groups_.try_emplace(OwnerKey(name, rules.uid)).first;
  owners_[name] = place;
  PodGroup& group = place->second;
  group.counts = PodCounts(rules.min_ready);
  group.rules = std::move(rules);
  for (OwnedPod* pod : group.pods) Count(static_cast<Held&>(*pod));
  selectors_.Set(name, group.rules->selector);
  if (!group.rules->controller_uid.empty()) siblings_[group.rules->controller_uid].insert(name);
  auto orphans = groups_.find(OwnerKey(ObjectName{name.ns, ""}, ""));
  if (orphans == groups_.end()) return;
  for (const OwnedPod* orphan : orphans->second.pods)
    if (group.rules->selector.Matches(orphan->pod->header()))
      group.adoptable.insert(orphan->pod->header().name);
}

void ReplicaIndex::RemoveOwner(const ObjectName& name) {
  auto owner = owners_.find(name);
  if (owner == owners_.end()) return;
  Groups::iterator place = owner->second;
  PodGroup& group = place->second;
  if (auto siblings = siblings_.find(group.rules->controller_uid); siblings != siblings_.end()) {
    siblings->second.erase(name);
    if (siblings->second.empty()) siblings_.erase(siblings);
  }
  selectors_.Remove(name);
  owners_.erase(owner);
  group.rules.reset();
  group.counts = PodCounts();
  group.live_by_node.clear();
  group.strays.clear();
  group.adoptable.clear();
  DropIfUnused(place);
}

PodGroup* ReplicaIndex::Find(const ObjectName& owner) {
  auto place = owners_.find(owner);
  return place == owners_.end() ? nullptr : &place->second->second;
}

std::vector<int> ReplicaIndex::LivePodsByNode(const ObjectName& owner) const {
  std::vector<int> by_node(node_numbers_.size());
  auto count = [&](const PodGroup& group) {
    for (const auto& [node, live] : group.live_by_node) by_node[static_cast<std::size_t>(node)] += live;
  };
  auto place = owners_.find(owner);
  if (place == owners_.end()) return by_node;
  auto siblings = siblings_.find(place->second->second.rules->controller_uid);
  if (siblings == siblings_.end()) return by_node;
  for (const ObjectName& sibling : siblings->second) count(owners_.at(sibling)->second);
  return by_node;
}

}  // namespace terrarium::controllers::replicaset
