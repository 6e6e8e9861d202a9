// The groups of spread constraints, and the selectors of the default constraints.

#include <algorithm>
#include <utility>

#include "api/json_access.h"
#include "kubelet-fake/scheduler/internal/cluster.h"

namespace terrarium::kubelet_fake::scheduling {

using api::ObjectName;

namespace {

// Of a Service or a ReplicationController; nothing when it has none.
api::LabelSelector SelectorOfMap(const api::Json& object) {
  const api::Json& labels = api::ObjectAt(object, "spec", "selector");
  return labels.empty() ? api::LabelSelector::Nothing() : api::LabelSelector::FromMap(labels);
}

}  // namespace

template <typename Visit>
void Cluster::ForEachClassIn(const std::string& ns, const Visit& visit) {
  for (auto it = classes_.lower_bound(ns); it != classes_.end() && it->first.starts_with(ns); ++it) {
    const auto pod_class = it->second.lock();
    if (pod_class != nullptr && pod_class->wants.pod.ns == ns) visit(*pod_class);
  }
}

void Cluster::SetSpread(PodClass& pod_class) {
  const auto ns = spread_groups_.find(pod_class.wants.pod.ns);
  if (ns != spread_groups_.end()) {
    for (const auto& [text, weak] : ns->second) {
      if (const auto group = weak.lock()) JoinSpread(pod_class, group);
    }
  }
  const Requirements& wants = pod_class.wants;
  if (!wants.declares_spread) return SetDefaultSpread(pod_class);
  if (!wants.hard_spread.empty()) {
    pod_class.hard_spread = SpreadGroupOf(wants, wants.hard_spread, "hard");
    for (const SpreadConstraint& constraint : wants.hard_spread)
      pod_class.matches_own_spread.push_back(constraint.selector.Matches(wants.pod));
  }
  if (!wants.soft_spread.empty()) pod_class.soft_spread = SpreadGroupOf(wants, wants.soft_spread, "soft");
}

void Cluster::SetDefaultSpread(PodClass& pod_class) {
  const std::string text = DefaultSelectorText(pod_class);
  std::shared_ptr<SpreadGroup> group;
  if (!text.empty()) {
    if (auto selector = api::LabelSelector::Parse(text))
      group = SpreadGroupOf(pod_class.wants, DefaultSpreadConstraints(*selector), "default");
  }
  if (group == pod_class.soft_spread) return;
  pod_class.soft_spread = std::move(group);
  ++generation_;
}

// mirrors DefaultSelector() of pkg/scheduler/framework/plugins/helper/spread.go, 1.36.
std::string Cluster::DefaultSelectorText(const PodClass& pod_class) {
  const api::ObjectHeader& pod = pod_class.wants.pod;
  std::set<std::string> parts;
  const auto add = [&](const api::LabelSelector& selector) {
    for (const api::LabelRequirement& requirement : selector.requirements())
      parts.insert(requirement.String());
  };
  if (const auto services = services_.find(pod.ns); services != services_.end()) {
    for (const auto& [name, selector] : services->second) {
      if (selector.Matches(pod)) add(selector);
    }
  }
  if (const auto& owner = pod_class.wants.workload; owner != nullptr && find_workload_) {
    const std::string_view resource = WorkloadResource(*owner);
    const ObjectName name{pod.ns, owner->name};
    if (const api::ObjectPtr object = find_workload_(resource, name)) {
      const auto document = object->Document();
      if (resource == "replicationcontrollers") {
        add(SelectorOfMap(*document));
      } else if (auto selector = api::LabelSelector::FromDocument(api::Find(*document, "spec", "selector"))) {
        add(*selector);
      }
    } else {
      awaited_workloads_.emplace(resource, name);
    }
  }
  std::string out;
  for (const std::string& part : parts) out.append(out.empty() ? "" : ",").append(part);
  return out;
}

void Cluster::WorkloadSeen(std::string_view resource, const ObjectName& name) {
  if (awaited_workloads_.empty() || awaited_workloads_.erase({std::string(resource), name}) == 0) return;
  ForEachClassIn(name.ns, [&](PodClass& pod_class) {
    const auto& owner = pod_class.wants.workload;
    if (owner != nullptr && owner->name == name.name && WorkloadResource(*owner) == resource)
      SetDefaultSpread(pod_class);
  });
}

void Cluster::SetService(const api::ObjectPtr& service) {
  const ObjectName& name = service->name();
  api::LabelSelector selector = SelectorOfMap(*service->Document());
  auto& services = services_[name.ns];
  const auto known = services.find(name.name);
  if (known != services.end() && known->second == selector) return;
  const api::LabelSelector before =
      known == services.end() ? api::LabelSelector::Nothing() : std::move(known->second);
  services.insert_or_assign(name.name, selector);
  ServiceChanged(name.ns, before);
  ServiceChanged(name.ns, selector);
}

void Cluster::RemoveService(const ObjectName& name) {
  const auto services = services_.find(name.ns);
  if (services == services_.end()) return;
  auto removed = services->second.extract(name.name);
  if (services->second.empty()) services_.erase(services);
  if (!removed.empty()) ServiceChanged(name.ns, removed.mapped());
}

void Cluster::ServiceChanged(const std::string& ns, const api::LabelSelector& selector) {
  if (selector.selects_nothing()) return;
  ForEachClassIn(ns, [&](PodClass& pod_class) {
    if (!pod_class.wants.declares_spread && selector.Matches(pod_class.wants.pod))
      SetDefaultSpread(pod_class);
  });
}

std::shared_ptr<SpreadGroup> Cluster::SpreadGroupOf(const Requirements& wants,
                                                    std::vector<SpreadConstraint> constraints,
                                                    const char* kind) {
  std::string text = kind;
  bool any_affinity = false;
  bool any_taints = false;
  for (SpreadConstraint& constraint : constraints) {
    constraint.key = KeyNumber(constraint.topology_key);
    text.append(1, '\0').append(constraint.Text());
    any_affinity |= constraint.honor_affinity;
    any_taints |= constraint.honor_taints;
  }
  if (any_affinity) text.append(1, '\0').append(wants.node_affinity_text);
  if (any_taints) text.append(1, '\0').append(wants.tolerations_text);
  std::weak_ptr<SpreadGroup>& entry = spread_groups_[wants.pod.ns][text];
  if (auto known = entry.lock()) return known;

  auto made = std::make_shared<SpreadGroup>();
  entry = made;
  made->ns = wants.pod.ns;
  made->constraints = std::move(constraints);
  made->require_all = wants.declares_spread;
  if (any_affinity) made->affinity = wants.node_affinity;
  if (any_taints) made->tolerations = wants.tolerations;
  made->hard = std::string_view(kind) == "hard";
  made->Clear();
  // Empty counts are right as long as no pod that counts is placed.
  made->stale = made->hard;
  if (made->hard) hard_groups_[made.get()] = made;
  ForEachClassIn(made->ns, [&](PodClass& pod_class) {
    const std::size_t before = pod_class.spread_matched.size();
    JoinSpread(pod_class, made);
    made->stale |= pod_class.spread_matched.size() > before && pod_class.placed > 0;
  });
  return made;
}

void Cluster::JoinSpread(PodClass& pod_class, const std::shared_ptr<SpreadGroup>& group) {
  PodClass::SpreadMatch match{group, {}};
  for (std::size_t i = 0; i < group->constraints.size(); ++i) {
    if (group->constraints[i].Counts(pod_class.wants.pod)) match.constraints.push_back(i);
  }
  if (!match.constraints.empty()) pod_class.spread_matched.push_back(std::move(match));
}

void Cluster::RecountSpread(SpreadGroup& group) {
  group.Clear();
  for (const NodeInfo* node : known_) {
    if (group.hard) group.CountNode(*node, 1);
    for (const NodeInfo::Placed& placed : node->placed) {
      if (placed.pods == placed.terminating) continue;
      for (const PodClass::SpreadMatch& match : placed.pod_class->spread_matched) {
        if (match.group.get() != &group) continue;
        for (std::size_t i : match.constraints) group.CountPods(i, *node, placed.pods - placed.terminating);
      }
    }
  }
  group.stale = false;
}

}  // namespace terrarium::kubelet_fake::scheduling
