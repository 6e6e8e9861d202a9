// How services are printed.

#include <set>

#include "api/json_access.h"
#include "apiserver/table/internal/printer.h"

namespace terrarium::apiserver::table {
namespace {

using api::Json;

constexpr Column kServiceColumns[] = {
    kNameColumn,
    {"Type", "string", "", "How the service is exposed: ClusterIP, NodePort, LoadBalancer or ExternalName."},
    {"Cluster-IP", "string", "", "The address of the service inside the cluster; None for a headless one."},
    {"External-IP", "string", "", "The addresses that reach the service from outside the cluster."},
    {"Port(s)", "string", "", "The ports that the service listens on, with node port and protocol."},
    kAgeColumn,
    {"Selector", "string", "", "The labels of the pods that the service sends traffic to.", 1},
};

std::string ExternalIps(const Json& service) {
  std::string out;
  for (const Json& ip : api::ListAt(service, "spec", "externalIPs"))
    if (ip.is_string()) AppendItem(out, ip.get_ref<const std::string&>());
  return out;
}

// Addresses that a load balancer has given, sorted, each once.
std::string BalancerAddresses(const Json& service) {
  std::set<std::string_view> addresses;
  for (const Json& ingress : api::ListAt(service, "status", "loadBalancer", "ingress")) {
    std::string_view address = api::StringAt(ingress, "ip");
    if (address.empty()) address = api::StringAt(ingress, "hostname");
    if (!address.empty()) addresses.insert(address);
  }
  std::string out;
  for (std::string_view address : addresses) AppendItem(out, address);
  return out;
}

std::string ExternalAddress(const Json& service) {
  std::string_view type = api::StringAt(service, "spec", "type");
  if (type == "ExternalName") return std::string(api::StringAt(service, "spec", "externalName"));
  if (type == "ClusterIP" || type == "NodePort") return OrElse(ExternalIps(service), kNone);
  if (type != "LoadBalancer") return std::string(kUnknown);
  std::string out = BalancerAddresses(service);
  if (std::string own = ExternalIps(service); !own.empty()) AppendItem(out, own);
  return OrElse(out, "<pending>");
}

std::string Ports(const Json& service) {
  std::string out;
  for (const Json& port : api::ListAt(service, "spec", "ports")) {
    std::string text = std::to_string(api::IntAt(port, 0, "port"));
    if (std::int64_t node_port = api::IntAt(port, 0, "nodePort"); node_port > 0)
      text += ":" + std::to_string(node_port);
    AppendItem(out, text.append("/").append(api::StringAt(port, "protocol")));
  }
  return OrElse(out, kNone);
}

std::vector<Json> ServiceCells(const Json& service, api::Time now) {
  const Json& ips = api::ListAt(service, "spec", "clusterIPs");
  return {Name(service),
          api::StringAt(service, "spec", "type"),
          ips.empty() || !ips.front().is_string() ? Json(kNone) : ips.front(),
          ExternalAddress(service),
          Ports(service),
          Age(service, now),
          LabelsText(api::ObjectAt(service, "spec", "selector"))};
}

constexpr Printer kServicePrinters[] = {{"", "Service", kServiceColumns, ServiceCells}};

}  // namespace

std::span<const Printer> ServicePrinters() { return kServicePrinters; }

}  // namespace terrarium::apiserver::table
