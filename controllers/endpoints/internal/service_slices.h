#pragma once

// Which slices a Service should have, with as few writes as Kubernetes makes. Mirrors reconcileByAddressType
// and reconcileByPortMapping of k8s.io/endpointslice/reconciler.go, v1.36. Pure.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controllers/endpoints/internal/service_pods.h"
#include "controllers/endpoints/internal/service_view.h"
#include "controllers/endpoints/internal/slice.h"

namespace terrarium::controllers::endpoints {

inline constexpr const char* kSliceManager = "endpointslice-controller.k8s.io";

// A node as endpoints need it; nullopt: there is no such node.
struct NodeZone {
  std::string zone;  // empty: unknown
};
using FindNode = std::function<std::optional<NodeZone>(const std::string& node)>;

// The endpoint of a pod; without addresses when the pod has none of that type.
Endpoint EndpointOf(const ServiceView& service, const PodFacts& pod, const std::string& zone,
                    const std::string& address_type);

// The labels of a slice of the Service. `differ`: the stored ones do, apart from those that the controller
// itself defines. Only that, or another reason to write the slice, updates them.
struct SliceLabels {
  Labels labels;
  bool differ = false;
};
SliceLabels LabelsFor(const ServiceView& service, const Labels& stored);

// Of one set of ports.
struct PortUsage {
  int endpoints = 0;
  int slices = 0;
};
using PortUsages = std::map<Ports, PortUsage>;

struct ServicePlan {
  SlicePlan slices;
  PortUsages usage;
  std::vector<std::string> without_node;  // pods that were left out because their node does not exist
};
// `existing`: the slices of that address type, without those that are being deleted.
ServicePlan PlanSlices(const ServiceView& service, const ServicePods::Pods& pods, const FindNode& nodes,
                       const Slices& existing, const std::string& address_type);

// The slices of `existing` that the plan neither updates nor removes.
Slices UnchangedBy(const SlicePlan& plan, const Slices& existing);

}  // namespace terrarium::controllers::endpoints
