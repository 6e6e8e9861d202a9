#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kubelet-fake/scheduler/internal/diagnosis.h"
#include "kubelet-fake/scheduler/internal/requirements.h"
#include "kubelet-fake/scheduler/internal/spread.h"
#include "kubelet-fake/scheduler/internal/topology.h"
#include "kubelet-fake/scheduler/internal/volumes.h"

namespace terrarium::kubelet_fake::scheduling {

// Pods with equal requirements, such as those made from one template: a decision about one of them is valid
// for all. Shared by these pods; made by Cluster, which also keeps the groups current.
struct PodClass {
  std::int64_t number = 0;  // by which classes are ordered
  Requirements wants;

  std::shared_ptr<TermGroup> affinity;  // nullptr: none
  bool matches_own_affinity = false;
  std::vector<std::shared_ptr<TermGroup>> anti_affinity;
  // The groups whose terms these pods match: affinity and anti-affinity of any pods, including their own.
  std::vector<std::shared_ptr<TermGroup>> matched;
  // Terms that decide how welcome pods that match are near these pods.
  struct Weighed {
    std::shared_ptr<TermGroup> group;
    std::int64_t weight = 0;
    bool preferred = false;  // the class itself prefers it; false for required affinity
  };
  std::vector<Weighed> weighed;

  std::shared_ptr<SpreadGroup> hard_spread;  // nullptr: none
  std::vector<bool> matches_own_spread;      // for each constraint of hard_spread
  std::shared_ptr<SpreadGroup> soft_spread;  // nullptr: none
  // The groups that count these pods, with the constraints that do.
  struct SpreadMatch {
    std::shared_ptr<SpreadGroup> group;
    std::vector<std::size_t> constraints;
  };
  std::vector<SpreadMatch> spread_matched;
  VolumeNeeds volumes;  // of the claims, kept current by Cluster::Refresh
  int placed = 0;       // pods of this class that count on a node

  // Why no node was feasible at the last attempt. Valid while the cluster has that generation.
  struct Failure {
    std::uint64_t generation = 0;
    FilterSet rejected_by;
    std::string message;
    bool of_all = true;  // false: of the one pod only, which preempts others or was nominated to a node
    bool preemption_tried = false;
  };
  std::optional<Failure> failure;
};

using PodClassPtr = std::shared_ptr<PodClass>;

}  // namespace terrarium::kubelet_fake::scheduling
