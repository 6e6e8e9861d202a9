#include "controllers/endpoints/internal/service_view.h"

#include <algorithm>

#include "api/json_access.h"

namespace terrarium::controllers::endpoints {
namespace {

using api::Json;

bool HintsEnabled(const Json& annotations) {
  // Both spellings, as in Kubernetes. The older annotation wins.
  const Json* mode = api::Find(annotations, "service.kubernetes.io/topology-aware-hints");
  if (mode == nullptr) mode = api::Find(annotations, "service.kubernetes.io/topology-mode");
  return mode != nullptr && (*mode == "Auto" || *mode == "auto");
}

ServicePort ReadServicePort(const Json& port) {
  ServicePort out{.name = std::string(api::StringAt(port, "name")),
                  .protocol = std::string(api::StringAt(port, "protocol")),
                  .app_protocol = {},
                  .target_name = std::string(api::StringAt(port, "targetPort")),
                  .target = api::IntAt(port, 0, "targetPort")};
  if (const Json* app = api::Find(port, "appProtocol")) out.app_protocol = app->get<std::string>();
  return out;
}

}  // namespace

Labels ReadLabels(const Json& map) {
  Labels labels;
  for (const auto& [key, value] : map.items()) labels.emplace(key, value.get<std::string>());
  return labels;
}

ServiceView ReadServiceView(const api::ObjectPtr& service) {
  const std::shared_ptr<const Json> document = service->Document();
  const Json& spec = api::ObjectAt(*document, "spec");
  ServiceView view;
  view.object = service;
  view.name = service->name();
  view.labels = ReadLabels(api::ObjectAt(*document, "metadata", "labels"));
  view.created =
      api::ParseTime(api::StringAt(*document, "metadata", "creationTimestamp")).value_or(api::Time{});
  view.is_external_name = api::StringAt(spec, "type") == "ExternalName";
  view.publishes_not_ready = api::BoolAt(spec, "publishNotReadyAddresses");
  view.auto_hints = HintsEnabled(api::ObjectAt(*document, "metadata", "annotations"));
  view.cluster_ip = api::StringAt(spec, "clusterIP");
  view.traffic_preference = api::StringAt(spec, "trafficDistribution");
  for (const Json& family : api::ListAt(spec, "ipFamilies"))
    view.ip_families.push_back(family.get<std::string>());
  for (const Json& port : api::ListAt(spec, "ports")) view.ports.push_back(ReadServicePort(port));
  return view;
}

std::optional<api::LabelSelector> SelectorOf(const api::Object& service) {
  const std::shared_ptr<const Json> document = service.Document();
  const Json& selector = api::ObjectAt(*document, "spec", "selector");
  if (selector.empty()) return std::nullopt;
  return api::LabelSelector::FromMap(selector);
}

std::vector<std::string> AddressTypesOf(const ServiceView& service) {
  std::vector<std::string> types = service.ip_families;
  std::sort(types.begin(), types.end());
  types.erase(std::unique(types.begin(), types.end()), types.end());
  if (!types.empty()) return types;
  if (service.HasClusterIp()) return {service.cluster_ip.find(':') == std::string::npos ? "IPv4" : "IPv6"};
  return {"IPv4", "IPv6"};
}

std::optional<std::int64_t> FindPort(const ServicePort& port, const PodFacts& pod) {
  if (port.target_name.empty()) return port.target;
  for (const PodFacts::NamedPort& named : pod.ports)
    if (named.name == port.target_name && named.protocol == port.protocol) return named.number;
  return std::nullopt;
}

Ports PortsOn(const ServiceView& service, const PodFacts& pod) {
  Ports ports;
  for (const ServicePort& port : service.ports)
    if (const std::optional<std::int64_t> number = FindPort(port, pod))
      ports.push_back({port.name, port.protocol, number, port.app_protocol});
  return ports;
}

bool HasHostname(const ServiceView& service, const PodFacts& pod) {
  return !pod.hostname.empty() && pod.subdomain == service.name.name && pod.name.ns == service.name.ns;
}

}  // namespace terrarium::controllers::endpoints
