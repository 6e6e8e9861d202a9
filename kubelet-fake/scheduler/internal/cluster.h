#pragma once

// The scheduler's view of the cluster, updated incrementally: placed pods, summed up for each node, for each
// group of affinity terms and for each group of spread constraints.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/object.h"
#include "kubelet-fake/scheduler/internal/node_info.h"
#include "kubelet-fake/scheduler/internal/pod_class.h"
#include "kubelet-fake/scheduler/internal/pod_record.h"
#include "kubelet-fake/scheduler/internal/spread.h"
#include "kubelet-fake/scheduler/internal/topology.h"
#include "kubelet-fake/scheduler/internal/volumes.h"

namespace terrarium::kubelet_fake::scheduling {

class Cluster {
 public:
  // The class of a pod; a new one when no pod with these requirements is known.
  PodClassPtr ClassOf(const api::Object& pod);

  struct NodeChange {
    NodeInfo& node;
    NodeFacts before;  // without an object when the node is new
  };
  // nullopt: nothing relevant to scheduling has changed.
  std::optional<NodeChange> SetNode(const api::ObjectPtr& node);
  void RemoveNode(const std::string& name);
  void SetNamespace(const api::ObjectPtr& object);
  void RemoveNamespace(const std::string& name);

  // The objects whose selectors the default spread constraints use. Workloads, whose selectors do not change,
  // are looked up when a pod of theirs is seen; WorkloadSeen adds a workload that is seen after its pods.
  using FindWorkload = std::function<api::ObjectPtr(std::string_view resource, const api::ObjectName& name)>;
  void SetWorkloads(FindWorkload find) { find_workload_ = std::move(find); }
  void WorkloadSeen(std::string_view resource, const api::ObjectName& name);
  void SetService(const api::ObjectPtr& service);
  void RemoveService(const api::ObjectName& name);

  // Counts a pod on a node, which need not be known yet. The reference is valid until the pod is removed.
  NodeInfo& Place(const PodClassPtr& pod_class, const std::string& node);
  void Remove(const PodClassPtr& pod_class, NodeInfo& node, bool terminating = false);

  // The same for a pod that preemption may choose as a victim. It is no longer nominated then.
  void PlacePod(PodRecord& pod, const std::string& node);
  void RemovePod(PodRecord& pod);
  // A terminating pod keeps its room, but does not count for spreading. A no-op when repeated.
  void BeginTermination(PodRecord& pod);
  // Sets the node on which the pod will probably fit; "" for none. REQUIRES: the pod has no node.
  void Nominate(PodRecord& pod, const std::string& node);
  std::size_t nominations() const { return nominations_; }

  // Count a pod, or stop counting it, to see how the filters would decide. The caller undoes each call.
  void CountIn(const PodClassPtr& pod_class, NodeInfo& node, bool terminating);
  void CountOut(const PodClassPtr& pod_class, NodeInfo& node, bool terminating);

  // The known nodes, in the order in which they were added.
  const std::vector<NodeInfo*>& nodes() const { return known_; }
  // A known node, or nullptr.
  NodeInfo* FindNode(std::string_view name) const;
  // A known node, or an unknown one that has pods; else nullptr.
  NodeInfo* FindWithPods(std::string_view name) const;
  // Whether any placed pod has a lower priority, so that preemption could choose it.
  bool HasLowerPriority(std::int64_t priority) const {
    return !priorities_.empty() && priorities_.begin()->first < priority;
  }
  // Changes whenever the result of a decision may change.
  std::uint64_t generation() const { return generation_ + volumes_.generation(); }
  Volumes& volumes() { return volumes_; }
  const Volumes& volumes() const { return volumes_; }

  // Updates the counts that a decision about the class uses, and what its claims need.
  void Refresh(PodClass& pod_class);

 private:
  NodeInfo& EntryOf(const std::string& node);
  void EraseIfUnused(NodeInfo& node);
  // The number of the key, which the domains of all nodes have then.
  std::size_t KeyNumber(const std::string& topology_key);
  void SetFacts(NodeInfo& node, NodeFacts facts);
  std::shared_ptr<TermGroup> GroupOf(std::vector<PodTerm> terms, const char* kind);
  void JoinGroups(PodClass& pod_class);
  void NamespaceLabelsChanged(const std::string& name);
  void SweepIfDue();

  // `change` is a number of pods; `live_change` leaves out terminating pods.
  void Count(const PodClass& pod_class, const NodeInfo& node, int change, int live_change);
  // All that is on the node, and the node itself for spreading.
  void CountNode(const NodeInfo& node, int sign);
  void Recount(TermGroup& group);

  // cluster_spread.cc
  void SetSpread(PodClass& pod_class);
  void SetDefaultSpread(PodClass& pod_class);
  std::string DefaultSelectorText(const PodClass& pod_class);
  std::shared_ptr<SpreadGroup> SpreadGroupOf(const Requirements& wants,
                                             std::vector<SpreadConstraint> constraints, const char* kind);
  void JoinSpread(PodClass& pod_class, const std::shared_ptr<SpreadGroup>& group);
  void RecountSpread(SpreadGroup& group);
  void ServiceChanged(const std::string& ns, const api::LabelSelector& selector);
  template <typename Visit>
  void ForEachClassIn(const std::string& ns, const Visit& visit);

  Namespaces namespaces_;
  TopologyKeys topology_;
  std::map<std::string, std::unique_ptr<NodeInfo>, std::less<>> nodes_;  // also unknown ones that have pods
  std::vector<NodeInfo*> known_;
  std::map<std::int64_t, std::int64_t> priorities_;  // how many placed pods have each
  std::size_t nominations_ = 0;
  // Classes and groups live as long as pods refer to them; expired entries are removed when the number of
  // entries has doubled. The texts of classes begin with their namespace.
  std::map<std::string, std::weak_ptr<PodClass>> classes_;
  std::map<std::string, std::weak_ptr<TermGroup>> groups_;
  std::map<std::string, std::map<std::string, std::weak_ptr<SpreadGroup>>> spread_groups_;  // by namespace
  std::map<const SpreadGroup*, std::weak_ptr<SpreadGroup>> hard_groups_;
  Volumes volumes_;
  FindWorkload find_workload_;
  std::set<std::pair<std::string, api::ObjectName>> awaited_workloads_;        // by resource
  std::map<std::string, std::map<std::string, api::LabelSelector>> services_;  // by namespace, then name
  std::size_t classes_before_sweep_ = 256;
  std::int64_t last_class_ = 0;
  std::uint64_t generation_ = 1;
};

}  // namespace terrarium::kubelet_fake::scheduling
