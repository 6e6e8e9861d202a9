#include "kubelet-fake/scheduler/internal/cluster.h"

#include <algorithm>
#include <utility>

namespace terrarium::kubelet_fake::scheduling {
namespace {

bool Contains(const std::vector<std::shared_ptr<TermGroup>>& groups, const TermGroup& group) {
  return std::any_of(groups.begin(), groups.end(), [&](const auto& g) { return g.get() == &group; });
}

bool DependsOnNamespaceLabels(const TermGroup& group) {
  return std::any_of(group.terms.begin(), group.terms.end(),
                     [](const PodTerm& term) { return term.DependsOnNamespaceLabels(); });
}

template <typename Map>
void EraseDead(Map& map) {
  std::erase_if(map, [](const auto& item) { return item.second.expired(); });
}

// Each term by itself.
constexpr const char* kOneTerm = "term";

}  // namespace

PodClassPtr Cluster::ClassOf(const api::Object& pod) {
  const auto document = pod.Document();
  auto [entry, added] = classes_.try_emplace(RequirementsText(pod.header(), *document));
  if (auto known = entry->second.lock()) return known;

  auto made = std::make_shared<PodClass>();
  entry->second = made;
  made->number = ++last_class_;
  made->wants = RequirementsOf(pod.header(), *document);
  if (!made->wants.affinity.empty()) {
    made->affinity = GroupOf(made->wants.affinity, "affinity");
    made->matches_own_affinity = MatchesAll(made->wants.affinity, made->wants.pod, namespaces_);
  }
  for (const PodTerm& term : made->wants.anti_affinity) {
    made->anti_affinity.push_back(GroupOf({term}, kOneTerm));
  }
  // hardPodAffinityWeight is 1.
  for (const PodTerm& term : made->wants.affinity)
    made->weighed.push_back({GroupOf({term}, kOneTerm), 1, false});
  for (const PreferredPodTerm& item : made->wants.preferred)
    made->weighed.push_back({GroupOf({item.term}, kOneTerm), item.weight, true});
  JoinGroups(*made);
  SetSpread(*made);
  SweepIfDue();
  return made;
}

void Cluster::SweepIfDue() {
  if (classes_.size() < classes_before_sweep_) return;
  EraseDead(classes_);
  EraseDead(groups_);
  EraseDead(hard_groups_);
  for (auto& [ns, groups] : spread_groups_) EraseDead(groups);
  std::erase_if(spread_groups_, [](const auto& item) { return item.second.empty(); });
  classes_before_sweep_ = std::max<std::size_t>(256, 2 * classes_.size());
}

std::size_t Cluster::KeyNumber(const std::string& topology_key) {
  const std::size_t keys_before = topology_.size();
  const std::size_t number = topology_.NumberOf(topology_key);
  if (topology_.size() != keys_before) {
    for (NodeInfo* node : known_) node->domains = topology_.DomainsOf(node->facts.header());
  }
  return number;
}

std::shared_ptr<TermGroup> Cluster::GroupOf(std::vector<PodTerm> terms, const char* kind) {
  std::string text = kind;
  for (const PodTerm& term : terms) text.append(1, '\0').append(term.text);
  std::weak_ptr<TermGroup>& entry = groups_[text];
  if (auto known = entry.lock()) return known;

  auto made = std::make_shared<TermGroup>();
  entry = made;
  made->terms = std::move(terms);
  made->matching.resize(made->terms.size());
  for (const PodTerm& term : made->terms) made->keys.push_back(KeyNumber(term.topology_key));
  made->stale = false;
  for (auto& [key, weak] : classes_) {
    const auto other = weak.lock();
    if (other == nullptr || !MatchesAll(made->terms, other->wants.pod, namespaces_)) continue;
    other->matched.push_back(made);
    made->stale |= other->placed > 0;
  }
  return made;
}

void Cluster::JoinGroups(PodClass& pod_class) {
  pod_class.matched.clear();
  for (auto& [text, weak] : groups_) {
    auto group = weak.lock();
    if (group != nullptr && MatchesAll(group->terms, pod_class.wants.pod, namespaces_)) {
      pod_class.matched.push_back(std::move(group));
    }
  }
}

std::optional<Cluster::NodeChange> Cluster::SetNode(const api::ObjectPtr& node) {
  NodeFacts facts = NodeFacts::Of(node);
  NodeInfo& entry = EntryOf(node->header().name);
  if (entry.facts.SameAs(facts)) {
    entry.facts.object = node;
    return std::nullopt;
  }
  if (entry.facts.object == nullptr) known_.push_back(&entry);
  NodeFacts before = entry.facts;
  SetFacts(entry, std::move(facts));
  ++generation_;
  return NodeChange{entry, std::move(before)};
}

void Cluster::RemoveNode(const std::string& name) {
  const auto it = nodes_.find(name);
  if (it == nodes_.end() || it->second->facts.object == nullptr) return;
  NodeInfo& node = *it->second;
  known_.erase(std::find(known_.begin(), known_.end(), &node));
  SetFacts(node, {});
  ++generation_;
  EraseIfUnused(node);
}

// The labels and taints of a node decide where what is on it counts.
void Cluster::SetFacts(NodeInfo& node, NodeFacts facts) {
  CountNode(node, -1);
  node.facts = std::move(facts);
  node.UpdateEvenness();
  node.domains.clear();
  if (node.facts.object != nullptr) node.domains = topology_.DomainsOf(node.facts.header());
  CountNode(node, 1);
}

void Cluster::SetNamespace(const api::ObjectPtr& object) {
  const std::string& name = object->header().name;
  api::ObjectPtr before = std::exchange(namespaces_[name], object);
  if (before == nullptr || before->header().labels != object->header().labels) NamespaceLabelsChanged(name);
}

void Cluster::RemoveNamespace(const std::string& name) {
  if (namespaces_.erase(name) > 0) NamespaceLabelsChanged(name);
}

void Cluster::NamespaceLabelsChanged(const std::string& name) {
  bool any = false;
  for (auto& [text, weak] : groups_) {
    const auto group = weak.lock();
    if (group == nullptr || !DependsOnNamespaceLabels(*group)) continue;
    group->stale = true;
    any = true;
  }
  if (!any) return;
  ++generation_;
  for (auto& [text, weak] : classes_) {
    const auto pod_class = weak.lock();
    if (pod_class == nullptr || pod_class->wants.pod.ns != name) continue;
    JoinGroups(*pod_class);
    pod_class->matches_own_affinity =
        pod_class->affinity != nullptr &&
        MatchesAll(pod_class->wants.affinity, pod_class->wants.pod, namespaces_);
  }
}

NodeInfo& Cluster::EntryOf(const std::string& node) {
  std::unique_ptr<NodeInfo>& entry = nodes_[node];
  if (entry == nullptr) {
    entry = std::make_unique<NodeInfo>();
    entry->name = node;
  }
  return *entry;
}

void Cluster::EraseIfUnused(NodeInfo& node) {
  if (node.pods == 0 && node.nominated.empty() && node.facts.object == nullptr)
    nodes_.erase(nodes_.find(node.name));
}

NodeInfo& Cluster::Place(const PodClassPtr& pod_class, const std::string& node) {
  NodeInfo& entry = EntryOf(node);
  CountIn(pod_class, entry, false);
  ++pod_class->placed;
  ++priorities_[pod_class->wants.priority];
  ++generation_;
  return entry;
}

void Cluster::Remove(const PodClassPtr& pod_class, NodeInfo& node, bool terminating) {
  CountOut(pod_class, node, terminating);
  --pod_class->placed;
  const auto priority = priorities_.find(pod_class->wants.priority);
  if (--priority->second == 0) priorities_.erase(priority);
  ++generation_;
  EraseIfUnused(node);
}

void Cluster::CountIn(const PodClassPtr& pod_class, NodeInfo& node, bool terminating) {
  node.Add(pod_class, terminating);
  if (!pod_class->wants.claims.empty()) volumes_.CountUser(pod_class->wants, 1);
  Count(*pod_class, node, 1, terminating ? 0 : 1);
}

void Cluster::CountOut(const PodClassPtr& pod_class, NodeInfo& node, bool terminating) {
  Count(*pod_class, node, -1, terminating ? 0 : -1);
  if (!pod_class->wants.claims.empty()) volumes_.CountUser(pod_class->wants, -1);
  node.Remove(*pod_class, terminating);
}

void Cluster::PlacePod(PodRecord& pod, const std::string& node) {
  Nominate(pod, "");
  pod.node = &Place(pod.pod_class, node);
  pod.slot = pod.node->residents.size();
  pod.node->residents.push_back(&pod);
}

void Cluster::RemovePod(PodRecord& pod) {
  NodeInfo& node = *std::exchange(pod.node, nullptr);
  node.residents[pod.slot] = node.residents.back();
  node.residents[pod.slot]->slot = pod.slot;
  node.residents.pop_back();
  pod.preempted = false;
  Remove(pod.pod_class, node, std::exchange(pod.terminating, false));
}

void Cluster::BeginTermination(PodRecord& pod) {
  if (std::exchange(pod.terminating, true)) return;
  pod.node->BeginTermination(*pod.pod_class);
  Count(*pod.pod_class, *pod.node, 0, -1);
  ++generation_;
}

void Cluster::Nominate(PodRecord& pod, const std::string& node) {
  if (pod.nominated != nullptr) {
    if (pod.nominated->name == node) return;
    NodeInfo& before = *std::exchange(pod.nominated, nullptr);
    before.nominated.erase(std::find(before.nominated.begin(), before.nominated.end(), &pod));
    --nominations_;
    ++generation_;
    EraseIfUnused(before);
  }
  if (node.empty()) return;
  pod.nominated = &EntryOf(node);
  pod.nominated->nominated.push_back(&pod);
  ++nominations_;
  ++generation_;
}

NodeInfo* Cluster::FindWithPods(std::string_view name) const {
  const auto it = nodes_.find(name);
  return it == nodes_.end() ? nullptr : it->second.get();
}

NodeInfo* Cluster::FindNode(std::string_view name) const {
  const auto it = nodes_.find(name);
  return it == nodes_.end() || it->second->facts.object == nullptr ? nullptr : it->second.get();
}

void Cluster::Count(const PodClass& pod_class, const NodeInfo& node, int change, int live_change) {
  if (node.domains.empty()) return;
  for (const auto& group : pod_class.matched) {
    if (group->stale) continue;
    for (std::size_t i = 0; i < group->keys.size(); ++i)
      group->matching[i].Add(node.domains[group->keys[i]], change);
  }
  for (const auto& group : pod_class.anti_affinity) {
    if (!group->stale) group->carriers.Add(node.domains[group->keys.front()], change);
  }
  for (const PodClass::Weighed& item : pod_class.weighed) {
    if (item.group->stale) continue;
    item.group->weights.Add(node.domains[item.group->keys.front()], change * item.weight);
    item.group->weighing += change;
  }
  if (live_change == 0) return;
  for (const PodClass::SpreadMatch& match : pod_class.spread_matched) {
    if (match.group->stale) continue;
    for (std::size_t i : match.constraints) match.group->CountPods(i, node, live_change);
  }
}

void Cluster::CountNode(const NodeInfo& node, int sign) {
  if (node.domains.empty()) return;
  for (const NodeInfo::Placed& placed : node.placed)
    Count(*placed.pod_class, node, sign * placed.pods, sign * (placed.pods - placed.terminating));
  for (const auto& [key, weak] : hard_groups_) {
    const auto group = weak.lock();
    if (group != nullptr && !group->stale) group->CountNode(node, sign);
  }
}

void Cluster::Refresh(PodClass& pod_class) {
  if (!pod_class.wants.claims.empty() && pod_class.volumes.generation != volumes_.generation())
    pod_class.volumes = volumes_.NeedsOf(pod_class.wants);
  if (pod_class.affinity != nullptr && pod_class.affinity->stale) Recount(*pod_class.affinity);
  for (const auto& group : pod_class.anti_affinity) {
    if (group->stale) Recount(*group);
  }
  for (const auto& item : pod_class.weighed) {
    if (item.group->stale) Recount(*item.group);
  }
  for (const auto& group : pod_class.matched) {
    if (group->stale) Recount(*group);
  }
  for (const auto& group : {pod_class.hard_spread, pod_class.soft_spread}) {
    if (group != nullptr && group->stale) RecountSpread(*group);
  }
}

void Cluster::Recount(TermGroup& group) {
  for (DomainCounts& counts : group.matching) counts.Clear();
  group.carriers.Clear();
  group.weights.Clear();
  group.weighing = 0;
  const std::size_t key = group.keys.front();
  for (const NodeInfo* node : known_) {
    for (const NodeInfo::Placed& placed : node->placed) {
      if (Contains(placed.pod_class->matched, group)) {
        for (std::size_t i = 0; i < group.keys.size(); ++i)
          group.matching[i].Add(node->domains[group.keys[i]], placed.pods);
      }
      if (Contains(placed.pod_class->anti_affinity, group))
        group.carriers.Add(node->domains[key], placed.pods);
      for (const PodClass::Weighed& item : placed.pod_class->weighed) {
        if (item.group.get() != &group) continue;
        group.weights.Add(node->domains[key], placed.pods * item.weight);
        group.weighing += placed.pods;
      }
    }
  }
  group.stale = false;
}

}  // namespace terrarium::kubelet_fake::scheduling
