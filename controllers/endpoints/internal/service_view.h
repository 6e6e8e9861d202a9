#pragma once

// What endpoints depend on in a Service. Pure.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/json.h"
#include "api/object.h"
#include "api/selector/label_selector.h"
#include "controllers/endpoints/internal/endpoint_port.h"
#include "controllers/endpoints/internal/pod_facts.h"

namespace terrarium::controllers::endpoints {

using Labels = std::map<std::string, std::string>;
Labels ReadLabels(const api::Json& map);

inline constexpr const char* kHeadlessLabel = "service.kubernetes.io/headless";
inline constexpr const char* kServiceNameLabel = "kubernetes.io/service-name";
inline constexpr const char* kSliceManagerLabel = "endpointslice.kubernetes.io/managed-by";
inline constexpr const char* kTriggerTime = "endpoints.kubernetes.io/last-change-trigger-time";

struct ServicePort {
  std::string name;
  std::string protocol;
  std::optional<std::string> app_protocol;
  std::string target_name;  // empty: `target` is the port
  std::int64_t target = 0;
};

struct ServiceView {
  api::ObjectPtr object;
  api::ObjectName name;
  Labels labels;
  api::Time created{};
  bool is_external_name = false;
  bool publishes_not_ready = false;
  bool auto_hints = false;  // the annotation service.kubernetes.io/topology-mode or its predecessor
  std::string cluster_ip;   // "None": headless
  std::string traffic_preference;
  std::vector<std::string> ip_families;
  std::vector<ServicePort> ports;

  bool HasClusterIp() const { return !cluster_ip.empty() && cluster_ip != "None"; }
};

ServiceView ReadServiceView(const api::ObjectPtr& service);
// nullopt: the Service has no selector, and no controller manages its endpoints.
std::optional<api::LabelSelector> SelectorOf(const api::Object& service);

// "IPv4", "IPv6" or both: the addressTypes of its slices.
std::vector<std::string> AddressTypesOf(const ServiceView& service);

// The number of the port on this pod. nullopt: no container has a port of that name and protocol.
std::optional<std::int64_t> FindPort(const ServicePort& port, const PodFacts& pod);
// The ports of the Service on this pod, in the order of the Service, without those that the pod lacks.
Ports PortsOn(const ServiceView& service, const PodFacts& pod);

// Whether the endpoint of the pod has a hostname under the Service.
bool HasHostname(const ServiceView& service, const PodFacts& pod);

}  // namespace terrarium::controllers::endpoints
