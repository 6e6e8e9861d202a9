#pragma once

// The requirements of a pod for its node, read from its document once.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/core_v1/node_affinity.h"
#include "api/core_v1/volume_binding.h"
#include "api/json.h"
#include "api/object.h"
#include "api/owner_reference.h"
#include "kubelet-fake/scheduler/internal/host_ports.h"
#include "kubelet-fake/scheduler/internal/pod_terms.h"
#include "kubelet-fake/scheduler/internal/resources.h"
#include "kubelet-fake/scheduler/internal/spread.h"
#include "kubelet-fake/scheduler/internal/taints.h"

namespace terrarium::kubelet_fake::scheduling {

struct Requirements {
  // Namespace and labels, which other pods' terms match. Also name and uid if the pod has an ephemeral
  // volume.
  api::ObjectHeader pod;
  std::int64_t priority = 0;
  bool may_preempt = true;  // preemptionPolicy is not Never
  PodRequests resources;
  std::vector<Toleration> tolerations;
  bool tolerates_unschedulable = false;
  api::NodeAffinity node_affinity;
  std::vector<HostPort> host_ports;
  std::vector<PodTerm> affinity;
  std::vector<PodTerm> anti_affinity;
  std::vector<PreferredPodTerm> preferred;
  bool declares_spread = false;  // otherwise the default constraints hold
  std::vector<SpreadConstraint> hard_spread;
  std::vector<SpreadConstraint> soft_spread;
  std::vector<api::PodClaim> claims;
  // The fields that a node must match to count for spreading.
  std::string node_affinity_text;
  std::string tolerations_text;
  // The workload whose selector the default constraints use; nullptr: none, or the pod declares constraints.
  std::shared_ptr<const api::OwnerReference> workload;
};

// The resource of a workload that the default constraints know; "" for any other owner.
std::string_view WorkloadResource(const api::OwnerReference& owner);

Requirements RequirementsOf(const api::ObjectHeader& header, const api::Json& pod);
// Equal for pods with equal requirements, such as those made from one template.
std::string RequirementsText(const api::ObjectHeader& header, const api::Json& pod);

}  // namespace terrarium::kubelet_fake::scheduling
