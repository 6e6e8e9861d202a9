#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kubelet-fake/scheduler/internal/diagnosis.h"
#include "kubelet-fake/scheduler/internal/requirements.h"
#include "kubelet-fake/scheduler/internal/topology.h"

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

  // Why no node was feasible at the last attempt. Valid while the cluster has that generation.
  struct Failure {
    std::uint64_t generation = 0;
    FilterSet rejected_by;
    std::string message;
  };
  std::optional<Failure> failure;
};

using PodClassPtr = std::shared_ptr<PodClass>;

}  // namespace terrarium::kubelet_fake::scheduling
