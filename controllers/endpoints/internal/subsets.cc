#include "controllers/endpoints/internal/subsets.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "api/json_access.h"

namespace terrarium::controllers::endpoints {
namespace {

using api::Json;

// What makes an address one: pods of the host's network share an IP.
using AddressKey = std::pair<std::string, std::string>;  // ip, uid of the target
AddressKey KeyOf(const Address& address) { return {address.ip, address.target ? address.target->uid : ""}; }

// Addresses and whether they are ready, in the order in which they are written.
using Readiness = std::map<AddressKey, bool>;

std::vector<Address> ReadAddresses(const Json& list) {
  std::vector<Address> addresses;
  for (const Json& item : list) {
    Address address{.ip = std::string(api::StringAt(item, "ip")),
                    .hostname = std::string(api::StringAt(item, "hostname")),
                    .node_name = {},
                    .target = ReadTarget(api::Find(item, "targetRef"))};
    if (const Json* node = api::Find(item, "nodeName")) address.node_name = node->get<std::string>();
    addresses.push_back(std::move(address));
  }
  return addresses;
}

Json AddressesJson(const std::vector<Address>& addresses) {
  Json list = Json::array();
  for (const Address& address : addresses) {
    Json item = {{"ip", address.ip}};
    if (!address.hostname.empty()) item["hostname"] = address.hostname;
    if (address.node_name) item["nodeName"] = *address.node_name;
    if (address.target) item["targetRef"] = ToJson(*address.target);
    list.push_back(std::move(item));
  }
  return list;
}

// Names that are empty are absent in Endpoints.
Json SubsetPortsJson(const Ports& ports) {
  Json list = ToJson(ports);
  for (Json& port : list)
    if (port["name"] == "") port.erase("name");
  return list;
}

// Collects the addresses that offer each port. A subset without ports offers its addresses under none.
struct Collected {
  std::map<AddressKey, Address> addresses;
  std::map<std::optional<EndpointPort>, Readiness> by_port;

  void Add(const Address& address, const Ports& ports, bool ready) {
    AddressKey key = KeyOf(address);
    addresses.emplace(key, address);
    if (ports.empty()) return AddTo(by_port[std::nullopt], std::move(key), ready);
    for (const EndpointPort& port : ports) AddTo(by_port[port], key, ready);
  }

 private:
  static void AddTo(Readiness& offered, AddressKey key, bool ready) {
    const auto [it, added] = offered.emplace(std::move(key), ready);
    if (!added && !ready) it->second = false;
  }
};

std::optional<Address> AddressOf(const ServiceView& service, const PodFacts& pod) {
  std::string family = "IPv4";
  auto is_v6 = [](const std::string& ip) { return ip.find(':') != std::string::npos; };
  if (!service.ip_families.empty())
    family = service.ip_families[0];
  else if (service.HasClusterIp() ? is_v6(service.cluster_ip) : !pod.ips.empty() && is_v6(pod.ips[0]))
    family = "IPv6";
  for (const std::string& ip : pod.ips) {
    if (is_v6(ip) != (family == "IPv6")) continue;
    TargetReference target;
    target.kind = "Pod";
    target.ns = pod.name.ns;
    target.name = pod.name.name;
    target.uid = pod.uid;
    return Address{.ip = ip,
                   .hostname = HasHostname(service, pod) ? pod.hostname : "",
                   .node_name = pod.node_name,
                   .target = std::move(target)};
  }
  return std::nullopt;
}

void Cut(std::vector<Address>& addresses, std::size_t& room, std::size_t total, std::size_t most) {
  const double share = static_cast<double>(addresses.size()) / static_cast<double>(total);
  std::size_t keep = static_cast<std::size_t>(std::ceil(share * static_cast<double>(most)));
  keep = std::min({keep, room, addresses.size()});
  addresses.erase(addresses.begin() + static_cast<std::ptrdiff_t>(keep), addresses.end());
  room -= keep;
}

}  // namespace

Subsets ReadSubsets(const Json& list) {
  Subsets subsets;
  for (const Json& item : list)
    subsets.push_back({.ready = ReadAddresses(api::ListAt(item, "addresses")),
                       .not_ready = ReadAddresses(api::ListAt(item, "notReadyAddresses")),
                       .ports = ReadPorts(api::ListAt(item, "ports"))});
  return subsets;
}

Json ToJson(const Subsets& subsets) {
  Json list = Json::array();
  for (const Subset& subset : subsets) {
    Json item = Json::object();
    if (!subset.ready.empty()) item["addresses"] = AddressesJson(subset.ready);
    if (!subset.not_ready.empty()) item["notReadyAddresses"] = AddressesJson(subset.not_ready);
    if (!subset.ports.empty()) item["ports"] = SubsetPortsJson(subset.ports);
    list.push_back(std::move(item));
  }
  return list;
}

bool operator==(const Address& a, const Address& b) {
  return std::tie(a.ip, a.hostname, a.node_name) == std::tie(b.ip, b.hostname, b.node_name) &&
         IsSameTarget(a.target, b.target);
}

bool operator==(const Subset& a, const Subset& b) {
  return a.ready == b.ready && a.not_ready == b.not_ready && a.ports == b.ports;
}

// Mirrors RepackSubsets.
Subsets Repack(const Subsets& subsets) {
  Collected collected;
  for (const Subset& subset : subsets) {
    for (const Address& address : subset.ready) collected.Add(address, subset.ports, true);
    for (const Address& address : subset.not_ready) collected.Add(address, subset.ports, false);
  }
  std::map<Readiness, Ports> merged;
  for (auto& [port, offered] : collected.by_port) {
    Ports& ports = merged[std::move(offered)];
    if (port) ports.push_back(*port);
  }
  Subsets packed;
  for (auto& [offered, ports] : merged) {
    Subset subset{.ready = {}, .not_ready = {}, .ports = std::move(ports)};
    SortForSubset(subset.ports);
    for (const auto& [key, ready] : offered)
      (ready ? subset.ready : subset.not_ready).push_back(collected.addresses.at(key));
    packed.push_back(std::move(subset));
  }
  std::stable_sort(packed.begin(), packed.end(),
                   [](const Subset& a, const Subset& b) { return a.ports < b.ports; });
  return packed;
}

Subsets SubsetsFor(const ServiceView& service, const ServicePods::Pods& pods) {
  Subsets subsets;
  for (const auto& [name, pod] : pods) {
    if (!pod->HasEndpoint() || (pod->deleting && !service.publishes_not_ready)) continue;
    std::optional<Address> address = AddressOf(service, *pod);
    if (!address) continue;
    Ports ports = PortsOn(service, *pod);
    // Only a headless Service may have no ports.
    if (ports.empty() && !(service.ports.empty() && service.cluster_ip == "None")) continue;
    Subset subset{.ready = {}, .not_ready = {}, .ports = std::move(ports)};
    const bool ready = service.publishes_not_ready || pod->ready;
    (ready ? subset.ready : subset.not_ready).push_back(std::move(*address));
    subsets.push_back(std::move(subset));
  }
  return Repack(subsets);
}

bool Truncate(Subsets& subsets) {
  std::size_t ready = 0;
  for (const Subset& subset : subsets) ready += subset.ready.size();
  const std::size_t all = CountAddresses(subsets);
  if (all <= kAddressesMax) return false;
  const bool cuts_ready = ready > kAddressesMax;
  const std::size_t most = cuts_ready ? kAddressesMax : kAddressesMax - ready;
  std::size_t room = most;
  for (Subset& subset : subsets) {
    if (cuts_ready) {
      Cut(subset.ready, room, ready, most);
      subset.not_ready.clear();
    } else {
      Cut(subset.not_ready, room, all - ready, most);
    }
  }
  return true;
}

std::size_t CountAddresses(const Subsets& subsets) {
  std::size_t count = 0;
  for (const Subset& subset : subsets) count += subset.ready.size() + subset.not_ready.size();
  return count;
}

}  // namespace terrarium::controllers::endpoints
