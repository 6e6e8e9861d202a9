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
  kVolumeRestrictions,
  kVolumeBinding,
  kVolumeZone,
  kPodTopologySpread,
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
  kExclusiveClaim,
  kVolumeNodeAffinity,
  kNoVolumeToBind,
  kVolumeMissing,
  kVolumeZone,
  kSpread,
  kSpreadMissingLabel,
  kPodAffinity,
  kPodAntiAffinity,
  kExistingAntiAffinity,
  kNoVictims,           // of preemption
  kPreemptionNoHelp,    // of preemption
  kNotNamedByAffinity,  // the pod's node affinity names other nodes
  kCount,
};

class Diagnosis {
 public:
  // Records a rejection. `hopeless`: removing pods from the node would not help.
  void Count(Reason reason, int nodes = 1) { reasons_[static_cast<std::size_t>(reason)] += nodes; }
  void CountInsufficient(const std::string& scalar) { ++scalars_[scalar]; }
  void NodeRefused(FilterName by, bool hopeless) {
    rejected_by_.Insert(by);
    if (!hopeless) ++not_hopeless_;
  }
  // The pod's node affinity names the nodes to check; the others have no reason of their own.
  void OnlyNamedNodesSeen(int nodes) {
    rejected_by_.Insert(FilterName::kNodeAffinity);
    Count(Reason::kNotNamedByAffinity, nodes);
  }
  // No node can pass that filter.
  void RejectEverywhere(FilterName by, std::string message) {
    rejected_by_.Insert(by);
    everywhere_ = std::move(message);
  }

  const FilterSet& rejected_by() const { return rejected_by_; }
  bool rejected_everywhere() const { return !everywhere_.empty(); }
  int not_hopeless() const { return not_hopeless_; }
  // "0/3 nodes are available: 3 Insufficient cpu." REQUIRES: nodes > 0, and all were rejected.
  std::string Message(int nodes) const;

 private:
  std::array<int, static_cast<std::size_t>(Reason::kCount)> reasons_{};
  std::map<std::string, int> scalars_;
  FilterSet rejected_by_;
  int not_hopeless_ = 0;
  std::string everywhere_;
};

inline constexpr std::string_view kNoNodesMessage = "no nodes available to schedule pods";

}  // namespace terrarium::kubelet_fake::scheduling
