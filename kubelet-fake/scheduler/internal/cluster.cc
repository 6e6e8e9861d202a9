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
    made->anti_affinity.push_back(GroupOf({term}, "anti-affinity"));
  }
  JoinGroups(*made);
  if (classes_.size() >= classes_before_sweep_) {
    EraseDead(classes_);
    EraseDead(groups_);
    classes_before_sweep_ = std::max<std::size_t>(256, 2 * classes_.size());
  }
  return made;
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
  const std::size_t keys_before = topology_.size();
  for (const PodTerm& term : made->terms) made->keys.push_back(topology_.NumberOf(term.topology_key));
  if (topology_.size() != keys_before) {
    for (NodeInfo* node : known_) node->domains = topology_.DomainsOf(node->facts.header());
  }
  for (auto& [key, weak] : classes_) {
    const auto other = weak.lock();
    if (other != nullptr && MatchesAll(made->terms, other->wants.pod, namespaces_))
      other->matched.push_back(made);
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
  std::unique_ptr<NodeInfo>& entry = nodes_[node->header().name];
  if (entry == nullptr) {
    entry = std::make_unique<NodeInfo>();
    entry->name = node->header().name;
  }
  if (entry->facts.SameAs(facts)) {
    entry->facts.object = node;
    return std::nullopt;
  }
  if (entry->facts.object == nullptr) known_.push_back(entry.get());
  NodeFacts before = std::exchange(entry->facts, std::move(facts));
  RelabelNode(*entry);
  ++generation_;
  return NodeChange{*entry, std::move(before)};
}

void Cluster::RemoveNode(const std::string& name) {
  const auto it = nodes_.find(name);
  if (it == nodes_.end() || it->second->facts.object == nullptr) return;
  NodeInfo& node = *it->second;
  known_.erase(std::find(known_.begin(), known_.end(), &node));
  node.facts = {};
  RelabelNode(node);
  ++generation_;
  if (node.pods == 0) nodes_.erase(it);
}

void Cluster::RelabelNode(NodeInfo& node) {
  std::vector<std::size_t> domains;
  if (node.facts.object != nullptr) domains = topology_.DomainsOf(node.facts.header());
  if (domains == node.domains) return;
  node.domains = std::move(domains);
  if (node.pods > 0) MarkAllStale();
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

NodeInfo& Cluster::Place(const PodClassPtr& pod_class, const std::string& node) {
  std::unique_ptr<NodeInfo>& entry = nodes_[node];
  if (entry == nullptr) {
    entry = std::make_unique<NodeInfo>();
    entry->name = node;
  }
  entry->Add(pod_class);
  Count(*pod_class, *entry, 1);
  ++generation_;
  return *entry;
}

void Cluster::Remove(const PodClassPtr& pod_class, NodeInfo& node) {
  Count(*pod_class, node, -1);
  node.Remove(*pod_class);
  ++generation_;
  if (node.pods == 0 && node.facts.object == nullptr) nodes_.erase(nodes_.find(node.name));
}

NodeInfo* Cluster::FindNode(std::string_view name) const {
  const auto it = nodes_.find(name);
  return it == nodes_.end() || it->second->facts.object == nullptr ? nullptr : it->second.get();
}

void Cluster::Count(const PodClass& pod_class, const NodeInfo& node, int change) {
  if (node.domains.empty()) return;
  for (const auto& group : pod_class.matched) {
    if (group->stale) continue;
    for (std::size_t i = 0; i < group->keys.size(); ++i)
      group->matching[i].Add(node.domains[group->keys[i]], change);
  }
  for (const auto& group : pod_class.anti_affinity) {
    if (!group->stale) group->carriers.Add(node.domains[group->keys.front()], change);
  }
}

void Cluster::Refresh(const PodClass& pod_class) {
  if (pod_class.affinity != nullptr && pod_class.affinity->stale) Recount(*pod_class.affinity);
  for (const auto& group : pod_class.anti_affinity) {
    if (group->stale) Recount(*group);
  }
  for (const auto& group : pod_class.matched) {
    if (group->stale) Recount(*group);
  }
}

void Cluster::Recount(TermGroup& group) {
  for (DomainCounts& counts : group.matching) counts.Clear();
  group.carriers.Clear();
  for (const NodeInfo* node : known_) {
    for (const NodeInfo::Placed& placed : node->placed) {
      if (Contains(placed.pod_class->matched, group)) {
        for (std::size_t i = 0; i < group.keys.size(); ++i)
          group.matching[i].Add(node->domains[group.keys[i]], placed.pods);
      }
      if (Contains(placed.pod_class->anti_affinity, group))
        group.carriers.Add(node->domains[group.keys.front()], placed.pods);
    }
  }
  group.stale = false;
}

void Cluster::MarkAllStale() {
  for (auto& [text, weak] : groups_) {
    if (const auto group = weak.lock()) group->stale = true;
  }
}

}  // namespace terrarium::kubelet_fake::scheduling
