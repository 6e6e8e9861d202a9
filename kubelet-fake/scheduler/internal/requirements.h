#pragma once

// The requirements of a pod for its node, read from its document once.

#include <cstdint>
#include <string>
#include <vector>

#include "api/core_v1/node_affinity.h"
#include "api/json.h"
#include "api/object.h"
#include "kubelet-fake/scheduler/internal/host_ports.h"
#include "kubelet-fake/scheduler/internal/pod_terms.h"
#include "kubelet-fake/scheduler/internal/resources.h"
#include "kubelet-fake/scheduler/internal/taints.h"

namespace terrarium::kubelet_fake::scheduling {

struct Requirements {
  api::ObjectHeader pod;  // namespace and labels only, which other pods' terms match
  std::int64_t priority = 0;
  bool may_preempt = true;  // preemptionPolicy is not Never
  PodRequests resources;
  std::vector<Toleration> tolerations;
  bool tolerates_unschedulable = false;
  api::NodeAffinity node_affinity;
  std::vector<HostPort> host_ports;
  std::vector<PodTerm> affinity;
  std::vector<PodTerm> anti_affinity;
};

Requirements RequirementsOf(const api::ObjectHeader& header, const api::Json& pod);
// Equal for pods with equal requirements, such as those made from one template.
std::string RequirementsText(const api::ObjectHeader& header, const api::Json& pod);

}  // namespace terrarium::kubelet_fake::scheduling
