#pragma once

// The scheduler's view of the cluster, updated incrementally: placed pods, summed up for each node and for
// each group of affinity terms.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "kubelet-fake/scheduler/internal/node_info.h"
#include "kubelet-fake/scheduler/internal/pod_class.h"
#include "kubelet-fake/scheduler/internal/topology.h"

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

  // Counts a pod on a node, which need not be known yet. The reference is valid until the pod is removed.
  NodeInfo& Place(const PodClassPtr& pod_class, const std::string& node);
  void Remove(const PodClassPtr& pod_class, NodeInfo& node);

  // The known nodes, in the order in which they were added.
  const std::vector<NodeInfo*>& nodes() const { return known_; }
  // A known node, or nullptr.
  NodeInfo* FindNode(std::string_view name) const;
  // Changes whenever the result of a decision may change.
  std::uint64_t generation() const { return generation_; }

  // Updates the counts that a decision about the class uses.
  void Refresh(const PodClass& pod_class);

 private:
  std::shared_ptr<TermGroup> GroupOf(std::vector<PodTerm> terms, const char* kind);
  void JoinGroups(PodClass& pod_class);
  void Count(const PodClass& pod_class, const NodeInfo& node, int change);
  void Recount(TermGroup& group);
  void RelabelNode(NodeInfo& node);
  void NamespaceLabelsChanged(const std::string& name);
  void MarkAllStale();

  Namespaces namespaces_;
  TopologyKeys topology_;
  std::map<std::string, std::unique_ptr<NodeInfo>, std::less<>> nodes_;  // also unknown ones that have pods
  std::vector<NodeInfo*> known_;
  // Classes and groups live as long as pods refer to them; expired entries are removed when the number of
  // entries has doubled.
  std::map<std::string, std::weak_ptr<PodClass>> classes_;
  std::map<std::string, std::weak_ptr<TermGroup>> groups_;
  std::size_t classes_before_sweep_ = 256;
  std::int64_t last_class_ = 0;
  std::uint64_t generation_ = 1;
};

}  // namespace terrarium::kubelet_fake::scheduling
