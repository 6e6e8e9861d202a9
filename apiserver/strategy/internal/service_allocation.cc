#include "apiserver/strategy/internal/service_allocation.h"

#include <algorithm>
#include <map>
#include <set>

#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/ip.h"

namespace terrarium::apiserver::strategy {
namespace {

constexpr std::uint32_t kFirstAddress = (10u << 24) | (96u << 16);  // 10.96.0.0/12
constexpr std::uint32_t kAddresses = 1u << 20;
constexpr std::uint32_t kReservedAddresses = 16;  // the network address and the well-known first addresses
constexpr std::int64_t kFirstNodePort = 30000;
constexpr std::int64_t kNodePorts = 2768;

// FNV-1a: the same in every build and release, unlike std::hash.
std::uint64_t Hash(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ull;
  for (unsigned char c : text) hash = (hash ^ c) * 1099511628211ull;
  return hash ^ (hash >> 32);
}

std::string DrawAddress(const Json& service) {
  const std::uint64_t draw =
      Hash(StringAt(service, "metadata", "uid")) % (kAddresses - kReservedAddresses - 1);
  const std::uint32_t address = kFirstAddress + kReservedAddresses + static_cast<std::uint32_t>(draw);
  return std::to_string(address >> 24) + "." + std::to_string((address >> 16) & 255) + "." +
         std::to_string((address >> 8) & 255) + "." + std::to_string(address & 255);
}

// Returns a node port that this Service does not use yet, and adds it to `used`; 0 if it uses all of them.
std::int64_t DrawNodePort(const Json& service, std::string_view purpose, std::set<std::int64_t>& used) {
  const std::string seed = std::string(StringAt(service, "metadata", "uid")) + "/" + std::string(purpose);
  const auto first = static_cast<std::int64_t>(Hash(seed) % kNodePorts);
  for (std::int64_t i = 0; i < kNodePorts; ++i) {
    const std::int64_t port = kFirstNodePort + (first + i) % kNodePorts;
    if (used.insert(port).second) return port;
  }
  return 0;
}

// A LoadBalancer may do without node ports.
bool AllocatesNodePorts(const Json& service) {
  return NeedsNodePorts(service) && (StringAt(service, "spec", "type") != "LoadBalancer" ||
                                     BoolAt(service, "spec", "allocateLoadBalancerNodePorts"));
}

bool IsExternalName(const Json& service) { return StringAt(service, "spec", "type") == "ExternalName"; }

bool IsHeadlessWithoutSelector(const Json& service) {
  return StringAt(service, "spec", "clusterIP") == "None" && ObjectAt(service, "spec", "selector").empty();
}

void FillFamilies(Json& service) {
  const bool dual = IsHeadlessWithoutSelector(service);
  Json& spec = ObjectField(service, "spec");
  if (Find(spec, "ipFamilyPolicy") == nullptr)
    spec["ipFamilyPolicy"] = dual ? "RequireDualStack" : "SingleStack";
  Json families = ListAt(spec, "ipFamilies");
  const Json& addresses = ListAt(spec, "clusterIPs");
  for (std::size_t i = families.size(); i < addresses.size(); ++i) {
    const std::string& address = addresses[i].get_ref<const std::string&>();
    if (address == "None" || FamilyOf(address) != "IPv4") break;
    families.push_back("IPv4");
  }
  if (families.empty()) families.push_back("IPv4");
  if (dual && families.size() < 2 && StringAt(spec, "ipFamilyPolicy") != "SingleStack") {
    families.push_back(families[0] == "IPv4" ? "IPv6" : "IPv4");
  }
  spec["ipFamilies"] = std::move(families);
}

void FillNodePorts(Json& service) {
  std::set<std::int64_t> used;
  for (const Json& port : ListAt(service, "spec", "ports")) used.insert(IntAt(port, 0, "nodePort"));
  if (AllocatesNodePorts(service)) {
    std::map<std::int64_t, std::int64_t> by_port;  // protocols of one port share a node port
    for (const Json& port : ListAt(service, "spec", "ports")) {
      if (const std::int64_t node_port = IntAt(port, 0, "nodePort"); node_port != 0) {
        by_port.emplace(IntAt(port, 0, "port"), node_port);
      }
    }
    for (Json& port : service["spec"]["ports"]) {
      if (IntAt(port, 0, "nodePort") != 0) continue;
      const std::int64_t number = IntAt(port, 0, "port");
      if (!by_port.contains(number)) by_port[number] = DrawNodePort(service, std::to_string(number), used);
      if (by_port[number] == 0) return;  // NodePorts() reports it
      port["nodePort"] = by_port[number];
    }
  }
  if (NeedsHealthCheckPort(service) && IntAt(service, 0, "spec", "healthCheckNodePort") == 0) {
    if (const std::int64_t port = DrawNodePort(service, "health", used); port != 0)
      service["spec"]["healthCheckNodePort"] = port;
  }
}

void Fill(Json& service) {
  if (IsExternalName(service)) {
    ObjectField(service, "spec").erase("internalTrafficPolicy");
    return;
  }
  FillFamilies(service);
  Json& spec = service["spec"];
  if (!ListAt(spec, "ports").empty()) FillNodePorts(service);
  if (ListAt(spec, "clusterIPs").empty() && ServiceAllocationErrors(service, nullptr).empty()) {
    const std::string address = DrawAddress(service);
    spec["clusterIP"] = address;
    spec["clusterIPs"] = Json::array({address});
  }
}

// Removes target[key] if it still has the old value.
void DropUnchanged(Json& target, const Json& old, std::string_view key) {
  if (Find(target, key) != nullptr && Find(old, key) != nullptr && *Find(target, key) == *Find(old, key)) {
    target.erase(std::string(key));
  }
}

void KeepWhenAbsent(Json& target, const Json& old, std::string_view key) {
  if (Find(target, key) == nullptr && Find(old, key) != nullptr) target[std::string(key)] = *Find(old, key);
}

void KeepNodePorts(Json& spec, const Json& old_spec) {
  std::set<std::int64_t> taken;
  for (const Json& port : ListAt(spec, "ports")) taken.insert(IntAt(port, 0, "nodePort"));
  std::map<std::string_view, std::int64_t> free;  // by port name; of several, the last wins
  for (const Json& old_port : ListAt(old_spec, "ports")) {
    const std::int64_t before = IntAt(old_port, 0, "nodePort");
    if (before != 0 && !taken.contains(before)) free[StringAt(old_port, "name")] = before;
  }
  for (Json& port : spec["ports"]) {
    if (IntAt(port, 0, "nodePort") != 0) continue;
    if (auto before = free.find(StringAt(port, "name")); before != free.end())
      port["nodePort"] = before->second;
  }
}

// A client that changes only clusterIP means clusterIPs too.
void AlignClusterIps(Json& spec, const Json& old_spec) {
  const std::string_view address = StringAt(spec, "clusterIP");
  if (address == StringAt(old_spec, "clusterIP") ||
      ListAt(spec, "clusterIPs") != ListAt(old_spec, "clusterIPs"))
    return;
  if (address.empty()) {
    spec.erase("clusterIPs");
  } else {
    spec["clusterIPs"] = Json::array({std::string(address)});
  }
}

bool OnlyOldNodePorts(const Json& spec, const Json& old_spec) {
  std::set<std::int64_t> old_ports = {0};
  for (const Json& port : ListAt(old_spec, "ports")) old_ports.insert(IntAt(port, 0, "nodePort"));
  const Json& ports = ListAt(spec, "ports");
  return std::all_of(ports.begin(), ports.end(),
                     [&](const Json& port) { return old_ports.contains(IntAt(port, 0, "nodePort")); });
}

void DropUseless(Json& service, const Json& old) {
  Json& spec = service["spec"];
  const Json& old_spec = ObjectAt(old, "spec");
  if (!IsExternalName(old) && IsExternalName(service)) {
    for (const char* key : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"})
      DropUnchanged(spec, old_spec, key);
  }
  if (NeedsNodePorts(old) && !NeedsNodePorts(service) && OnlyOldNodePorts(spec, old_spec) &&
      !ListAt(spec, "ports").empty()) {
    for (Json& port : spec["ports"]) port.erase("nodePort");
  }
  if (NeedsHealthCheckPort(old) && !NeedsHealthCheckPort(service))
    DropUnchanged(spec, old_spec, "healthCheckNodePort");
  if (StringAt(old_spec, "type") == "LoadBalancer" && StringAt(spec, "type") != "LoadBalancer") {
    DropUnchanged(spec, old_spec, "allocateLoadBalancerNodePorts");
    DropUnchanged(spec, old_spec, "loadBalancerClass");
  }
  if (IsExternallyAccessible(old) && !IsExternallyAccessible(service)) {
    DropUnchanged(spec, old_spec, "externalTrafficPolicy");
  }
  if (StringAt(spec, "type") != "LoadBalancer" && Find(service, "status") != nullptr) {
    service["status"]["loadBalancer"] = Json::object();
  }
}

// Rejects a requested node port outside the range, and a port that got none because all are in use.
void NodePorts(FieldErrors& errors, const Json& service) {
  if (!NeedsNodePorts(service)) return;
  const bool allocates = AllocatesNodePorts(service);
  const Json& ports = ListAt(service, "spec", "ports");
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::int64_t port = IntAt(ports[i], 0, "nodePort");
    const Path path = Path("spec").Child("ports").Index(i).Child("nodePort");
    if (port == 0 && allocates) {
      // DIVERGES: Kubernetes answers 500 with the same words.
      errors.push_back(api::InternalFieldError(path, "failed to allocate a nodePort: range is full"));
      return;
    }
    if (port == 0 || (port >= kFirstNodePort && port < kFirstNodePort + kNodePorts)) continue;
    errors.push_back(api::InvalidError(
        path, port, "provided port is not in the valid range. The range of valid ports is 30000-32767"));
    return;  // Kubernetes reports only the first error
  }
}

}  // namespace

bool IsHeadless(const Json& service) {
  const Json& addresses = ListAt(service, "spec", "clusterIPs");
  return addresses.size() == 1 && addresses[0] == "None";
}

bool NeedsNodePorts(const Json& service) {
  const std::string_view type = StringAt(service, "spec", "type");
  return type == "NodePort" || type == "LoadBalancer";
}

bool NeedsHealthCheckPort(const Json& service) {
  return StringAt(service, "spec", "type") == "LoadBalancer" &&
         StringAt(service, "spec", "externalTrafficPolicy") == "Local";
}

bool IsExternallyAccessible(const Json& service) {
  return NeedsNodePorts(service) || (StringAt(service, "spec", "type") == "ClusterIP" &&
                                     !ListAt(service, "spec", "externalIPs").empty());
}

void AllocateService(Json& service) {
  Json& spec = ObjectField(service, "spec");
  const std::string address(StringAt(spec, "clusterIP"));
  if (!address.empty() && ListAt(spec, "clusterIPs").empty()) spec["clusterIPs"] = Json::array({address});
  Fill(service);
}

void ReallocateService(Json& service, const Json& old) {
  Json& spec = ObjectField(service, "spec");
  const Json& old_spec = ObjectAt(old, "spec");
  if (!IsExternalName(old) && !IsExternalName(service)) {
    KeepWhenAbsent(spec, old_spec, "clusterIP");
    KeepWhenAbsent(spec, old_spec, "clusterIPs");
    KeepWhenAbsent(spec, old_spec, "ipFamilyPolicy");
  }
  if (NeedsNodePorts(old) && NeedsNodePorts(service) && !ListAt(spec, "ports").empty())
    KeepNodePorts(spec, old_spec);
  if (NeedsHealthCheckPort(old) && NeedsHealthCheckPort(service))
    KeepWhenAbsent(spec, old_spec, "healthCheckNodePort");
  AlignClusterIps(spec, old_spec);
  DropUseless(service, old);
  Fill(service);
}

FieldErrors ServiceAllocationErrors(const Json& service, const Json* old) {
  if (IsExternalName(service)) return {};
  FieldErrors errors = ValidateClusterIps(service, old);
  if (!errors.empty()) return errors;
  const Json& spec = ObjectAt(service, "spec");
  const Path path("spec");
  const std::string policy(StringAt(spec, "ipFamilyPolicy"));
  const Json& addresses = ListAt(spec, "clusterIPs");
  const Json& families = ListAt(spec, "ipFamilies");
  const auto need_two = [&](const Json& list, const char* what) {
    if (policy != "SingleStack" || list.size() != 2) return;
    errors.push_back(api::InvalidError(path.Child("ipFamilyPolicy"), policy,
                                       "must be 'RequireDualStack' or 'PreferDualStack' when multiple " +
                                           std::string(what) + " are specified"));
  };
  need_two(addresses, "cluster IPs");
  need_two(families, "IP families");
  for (std::size_t i = families.size(); i < addresses.size() && addresses[0] != "None"; ++i) {
    errors.push_back(api::InvalidError(path.Child("clusterIPs").Index(i), addresses,
                                       std::string(FamilyOf(addresses[i].get_ref<const std::string&>())) +
                                           " is not configured on this cluster"));
  }
  if (!errors.empty() || IsHeadlessWithoutSelector(service)) return errors;
  if (policy == "RequireDualStack") {
    errors.push_back(api::InvalidError(path.Child("ipFamilyPolicy"), policy,
                                       "this cluster is not configured for dual-stack services"));
  }
  for (std::size_t i = 0; i < families.size(); ++i) {
    if (families[i] == "IPv4") continue;
    errors.push_back(
        api::InvalidError(path.Child("ipFamilies").Index(i), families[i], "not configured on this cluster"));
  }
  if (errors.empty()) NodePorts(errors, service);
  return errors;
}

}  // namespace terrarium::apiserver::strategy
