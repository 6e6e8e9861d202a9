// What a cluster runs on: coordination, discovery, events, flow control, metrics, networking, node, resource
// and storage.

#include "apiserver/resources/internal/row.h"
#include "apiserver/strategies.h"
#include "apiserver/strategy/event_conversion.h"

namespace terrarium::apiserver::resources {
namespace {

constexpr Package kCoordination = {"coordination.k8s.io", "v1", "io.k8s.api.coordination.v1."};
constexpr Package kDiscovery = {"discovery.k8s.io", "v1", "io.k8s.api.discovery.v1."};
constexpr Package kEvents = {"events.k8s.io", "v1", "io.k8s.api.events.v1."};
constexpr Package kFlowControl = {"flowcontrol.apiserver.k8s.io", "v1", "io.k8s.api.flowcontrol.v1."};
constexpr Package kMetrics = {"metrics.k8s.io", "v1beta1", "io.k8s.metrics.pkg.apis.metrics.v1beta1."};
constexpr Package kNetworking = {"networking.k8s.io", "v1", "io.k8s.api.networking.v1."};
constexpr Package kNode = {"node.k8s.io", "v1", "io.k8s.api.node.v1."};
constexpr Package kResource = {"resource.k8s.io", "v1", "io.k8s.api.resource.v1."};
constexpr Package kStorage = {"storage.k8s.io", "v1", "io.k8s.api.storage.v1."};

}  // namespace

Resources Coordination() { return {Row(kCoordination, "Lease", "leases", LeaseStrategy())}; }

Resources Discovery() {
  return {Row(kDiscovery, "EndpointSlice", "endpointslices", EndpointSliceStrategy())};
}

Resources DynamicAllocation() {
  return {
      Row(kResource, "DeviceClass", "deviceclasses", DeviceClassStrategy(), {.namespaced = false}),
      Row(kResource, "ResourceClaim", "resourceclaims", ResourceClaimStrategy(), {.status = true}),
      Row(kResource, "ResourceClaimTemplate", "resourceclaimtemplates", ResourceClaimTemplateStrategy()),
      Row(kResource, "ResourceSlice", "resourceslices", ResourceSliceStrategy(), {.namespaced = false}),
  };
}

Resources Events() { return {Row(kEvents, "Event", "events", EventsV1Strategy(), {.short_names = {"ev"}})}; }

Resources FlowControl() {
  return {
      Row(kFlowControl, "FlowSchema", "flowschemas", FlowControlStrategy(),
          {.namespaced = false, .status = true}),
      Row(kFlowControl, "PriorityLevelConfiguration", "prioritylevelconfigurations", FlowControlStrategy(),
          {.namespaced = false, .status = true}),
  };
}

Resources Metrics() {
  return {
      ComputedRow(kMetrics, "NodeMetrics", "nodes", false),
      ComputedRow(kMetrics, "PodMetrics", "pods", true),
  };
}

Resources Networking() {
  return {
      Row(kNetworking, "IngressClass", "ingressclasses", IngressClassStrategy(), {.namespaced = false}),
      Row(kNetworking, "Ingress", "ingresses", IngressStrategy(),
          {.short_names = {"ing"}, .status = true, .etcd_prefix = "ingress"}),
      Row(kNetworking, "IPAddress", "ipaddresses", IpAddressStrategy(),
          {.namespaced = false, .short_names = {"ip"}}),
      Row(kNetworking, "NetworkPolicy", "networkpolicies", NetworkPolicyStrategy(),
          {.short_names = {"netpol"}}),
      Row(kNetworking, "ServiceCIDR", "servicecidrs", ServiceCidrStrategy(),
          {.namespaced = false, .status = true}),
  };
}

Resources NodeGroup() {
  return {Row(kNode, "RuntimeClass", "runtimeclasses", RuntimeClassStrategy(), {.namespaced = false})};
}

Resources Storage() {
  return {
      Row(kStorage, "CSIDriver", "csidrivers", CsiDriverStrategy(), {.namespaced = false}),
      Row(kStorage, "CSINode", "csinodes", CsiNodeStrategy(), {.namespaced = false}),
      Row(kStorage, "CSIStorageCapacity", "csistoragecapacities", CsiStorageCapacityStrategy()),
      Row(kStorage, "StorageClass", "storageclasses", StorageClassStrategy(),
          {.namespaced = false, .short_names = {"sc"}}),
      Row(kStorage, "VolumeAttachment", "volumeattachments", VolumeAttachmentStrategy(),
          {.namespaced = false, .status = true}),
      Row(kStorage, "VolumeAttributesClass", "volumeattributesclasses", VolumeAttributesClassStrategy(),
          {.namespaced = false, .short_names = {"vac"}}),
  };
}

}  // namespace terrarium::apiserver::resources
