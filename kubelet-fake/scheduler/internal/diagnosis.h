#pragma once

// Counts why nodes were rejected, and formats kube-scheduler's message.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace terrarium::kubelet_fake::scheduling {

// The filters in the order in which they are applied to a node; the first that rejects it ends the check.
enum class FilterName {
  kNodeUnschedulable,
  kTaintToleration,
  kNodeAffinity,
  kNodePorts,
  kNodeResourcesFit,
  kInterPodAffinity,
};

class FilterSet {
 public:
  void Insert(FilterName filter) { bits_ |= 1u << static_cast<unsigned>(filter); }
  bool Has(FilterName filter) const { return (bits_ & (1u << static_cast<unsigned>(filter))) != 0; }
  bool empty() const { return bits_ == 0; }

 private:
  unsigned bits_ = 0;
};

enum class Reason {
  kUnschedulable,
  kUntoleratedTaint,
  kNodeAffinity,
  kHostPorts,
  kTooManyPods,
  kCpu,
  kMemory,
  kEphemeralStorage,
  kPodAffinity,
  kPodAntiAffinity,
  kExistingAntiAffinity,
  kCount,
};

class Diagnosis {
 public:
  // Records a rejection. `hopeless`: removing pods from the node would not help.
  void Count(Reason reason) { ++reasons_[static_cast<std::size_t>(reason)]; }
  void CountInsufficient(const std::string& scalar) { ++scalars_[scalar]; }
  void NodeRefused(FilterName by, bool hopeless) {
    rejected_by_.Insert(by);
    if (!hopeless) ++not_hopeless_;
  }
  // The pod's node affinity names the nodes to check; the others have no reason of their own.
  void OnlyNamedNodesSeen(int nodes) {
    rejected_by_.Insert(FilterName::kNodeAffinity);
    unseen_ = nodes;
  }
  // No node can match, existing or not.
  void AffinityConflict() {
    rejected_by_.Insert(FilterName::kNodeAffinity);
    conflict_ = true;
  }

  const FilterSet& rejected_by() const { return rejected_by_; }
  // REQUIRES: nodes > 0, and all were rejected.
  std::string Message(int nodes, bool may_preempt) const;

 private:
  std::array<int, static_cast<std::size_t>(Reason::kCount)> reasons_{};
  std::map<std::string, int> scalars_;
  FilterSet rejected_by_;
  int not_hopeless_ = 0;
  int unseen_ = 0;
  bool conflict_ = false;
};

inline constexpr std::string_view kNoNodesMessage = "no nodes available to schedule pods";

}  // namespace terrarium::kubelet_fake::scheduling
