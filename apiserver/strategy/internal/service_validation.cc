#include "apiserver/strategy/internal/service_validation.h"

#include <set>

#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/ip.h"
#include "apiserver/strategy/internal/service_allocation.h"
#include "apiserver/validation/formats.h"

namespace terrarium::apiserver::strategy {
namespace {

constexpr std::int64_t kMaxAffinitySeconds = 86400;

void ByType(FieldErrors& errors, const Json& service, const Path& path) {
  const std::string_view type = StringAt(service, "spec", "type");
  if (type == "LoadBalancer" || type == "NodePort") {
    if (IsHeadless(service)) {
      errors.push_back(api::InvalidError(path.Child("clusterIPs").Index(0), "None",
                                         "may not be set to 'None' for " + std::string(type) + " services"));
    }
  } else if (type == "ExternalName") {
    for (const char* key : {"clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
      if (Find(service, "spec", key) != nullptr) {
        errors.push_back(api::ForbiddenError(path.Child(key), "may not be set for ExternalName services"));
      }
    }
    std::string_view name = StringAt(service, "spec", "externalName");
    if (name.ends_with('.')) name.remove_suffix(1);
    if (name.empty()) {
      errors.push_back(api::RequiredError(path.Child("externalName")));
    } else {
      AddInvalid(IsDns1123Subdomain(name), name, path.Child("externalName"), errors);
    }
  }
}

void Port(FieldErrors& errors, const Json& port, bool require_name, std::set<std::string_view>& names,
          const Path& path) {
  const std::string_view name = StringAt(port, "name");
  if (!name.empty()) {
    AddInvalid(IsDns1123Label(name), name, path.Child("name"), errors);
    if (!names.insert(name).second) errors.push_back(api::DuplicateError(path.Child("name"), name));
  } else if (require_name) {
    errors.push_back(api::RequiredError(path.Child("name")));
  }
  const std::int64_t number = IntAt(port, 0, "port");
  for (const std::string& message : IsValidPortNum(number)) {
    errors.push_back(api::InvalidError(path.Child("port"), number, message));
  }
  if (StringAt(port, "protocol").empty()) {
    errors.push_back(api::RequiredError(path.Child("protocol")));
  } else {
    OneOf(errors, path.Child("protocol"), StringAt(port, "protocol"), {"SCTP", "TCP", "UDP"});
  }
  const Json* target = Find(port, "targetPort");
  api::Append(errors, ValidatePortNumOrName(target == nullptr ? Json(0) : *target, path.Child("targetPort")));
  if (Find(port, "appProtocol") != nullptr) {
    const std::string_view protocol = StringAt(port, "appProtocol");
    AddInvalid(IsQualifiedName(protocol), protocol, path.Child("appProtocol"), errors);
  }
}

void Ports(FieldErrors& errors, const Json& ports, const Path& path) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < ports.size(); ++i)
    Port(errors, ports[i], ports.size() > 1, names, path.Index(i));
}

void NodePorts(FieldErrors& errors, const Json& service, const Path& path) {
  const Json& ports = ListAt(service, "spec", "ports");
  const bool forbidden = StringAt(service, "spec", "type") == "ClusterIP";
  for (std::size_t i = 0; forbidden && i < ports.size(); ++i) {
    if (IntAt(ports[i], 0, "nodePort") != 0) {
      errors.push_back(
          api::ForbiddenError(path.Index(i).Child("nodePort"), "may not be used when `type` is 'ClusterIP'"));
    }
  }
  std::set<std::pair<std::string_view, std::int64_t>> seen;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::int64_t port = IntAt(ports[i], 0, "nodePort");
    if (port != 0 && !seen.emplace(StringAt(ports[i], "protocol"), port).second) {
      errors.push_back(api::DuplicateError(path.Index(i).Child("nodePort"), port));
    }
  }
  seen.clear();
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::string_view protocol = StringAt(ports[i], "protocol");
    const std::int64_t port = IntAt(ports[i], 0, "port");
    if (seen.emplace(protocol, port).second) continue;
    // Kubernetes prints its own struct, with Go's field names in declaration order.
    errors.push_back({api::FieldErrorType::kDuplicate, path.Index(i).String(),
                      "Duplicate value: {\"Name\":\"\",\"Protocol\":" + api::Quote(protocol) +
                          ",\"AppProtocol\":null,\"Port\":" + std::to_string(port) +
                          ",\"TargetPort\":0,\"NodePort\":0}"});
  }
}

void SessionAffinity(FieldErrors& errors, const Json& spec, const Path& path) {
  const std::string_view affinity = StringAt(spec, "sessionAffinity");
  if (affinity.empty()) {
    errors.push_back(api::RequiredError(path.Child("sessionAffinity")));
  } else {
    OneOf(errors, path.Child("sessionAffinity"), affinity, {"ClientIP", "None"});
  }
  const Path config = path.Child("sessionAffinityConfig");
  if (affinity == "ClientIP") {
    const Json* timeout = Find(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds");
    if (timeout == nullptr) {
      errors.push_back(api::RequiredError(config, "when session affinity type is ClientIP"));
    } else if (timeout->get<std::int64_t>() <= 0 || timeout->get<std::int64_t>() > kMaxAffinitySeconds) {
      errors.push_back(api::InvalidError(config.Child("clientIP", "timeoutSeconds"), *timeout,
                                         "must be greater than 0 and less than 86400"));
    }
  } else if (affinity == "None" && Find(spec, "sessionAffinityConfig") != nullptr) {
    errors.push_back(api::ForbiddenError(config, "must not be set when session affinity is None"));
  }
}

void ExternalIps(FieldErrors& errors, const Json& spec, const Texts& old_values, const Path& path) {
  const Json& addresses = ListAt(spec, "externalIPs");
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const std::string& address = addresses[i].get_ref<const std::string&>();
    const std::size_t before = errors.size();
    ValidIp(errors, address, old_values, path.Index(i));
    if (errors.size() == before) OrdinaryIp(errors, address, path.Index(i));
  }
}

void LoadBalancer(FieldErrors& errors, const Json& spec, const Json& old_spec, const Path& path) {
  const bool is_balancer = StringAt(spec, "type") == "LoadBalancer";
  constexpr const char* kWhy = "may only be used when `type` is 'LoadBalancer'";
  const Json& ranges = ListAt(spec, "loadBalancerSourceRanges");
  if (!ranges.empty()) {
    const Path here = path.Child("LoadBalancerSourceRanges");
    if (!is_balancer) errors.push_back(api::ForbiddenError(here, kWhy));
    const Texts old_ranges = TextsOf(ListAt(old_spec, "loadBalancerSourceRanges"));
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      std::string_view range = ranges[i].get_ref<const std::string&>();
      range.remove_prefix(std::min(range.find_first_not_of(" \t\n"), range.size()));
      range = range.substr(0, range.find_last_not_of(" \t\n") + 1);
      ValidCidr(errors, range, old_ranges, here.Index(i));
    }
  }
  const Json* allocate = Find(spec, "allocateLoadBalancerNodePorts");
  if (allocate != nullptr && !is_balancer) {
    errors.push_back(api::ForbiddenError(path.Child("allocateLoadBalancerNodePorts"), kWhy));
  }
  if (allocate == nullptr && is_balancer) {
    errors.push_back(api::RequiredError(Path("allocateLoadBalancerNodePorts")));
  }
  if (Find(spec, "loadBalancerClass") == nullptr) return;
  const std::string_view name = StringAt(spec, "loadBalancerClass");
  if (is_balancer) {
    AddInvalid(IsQualifiedName(name), name, path.Child("loadBalancerClass"), errors);
  } else {
    errors.push_back(api::ForbiddenError(path.Child("loadBalancerClass"), kWhy));
  }
}

void HealthCheckPort(FieldErrors& errors, const Json& service, const Path& path) {
  const std::int64_t port = IntAt(service, 0, "spec", "healthCheckNodePort");
  if (!NeedsHealthCheckPort(service)) {
    if (port != 0) {
      errors.push_back(api::InvalidError(
          path, port,
          "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"));
    }
  } else if (port == 0) {
    errors.push_back(api::RequiredError(path));
  } else {
    for (const std::string& message : IsValidPortNum(port))
      errors.push_back(api::InvalidError(path, port, message));
  }
}

void TrafficPolicies(FieldErrors& errors, const Json& service, const Path& path) {
  const Json& spec = ObjectAt(service, "spec");
  const std::string_view external = StringAt(spec, "externalTrafficPolicy");
  const Path here = path.Child("externalTrafficPolicy");
  if (!IsExternallyAccessible(service)) {
    if (!external.empty()) {
      errors.push_back(
          api::InvalidError(here, external, "may only be set for externally-accessible services"));
    }
  } else if (external.empty()) {
    errors.push_back(api::RequiredError(here));
  } else {
    OneOf(errors, here, external, {"Cluster", "Local"});
  }
  HealthCheckPort(errors, service, path.Child("healthCheckNodePort"));
  const std::string_view type = StringAt(spec, "type");
  if (Find(spec, "internalTrafficPolicy") != nullptr) {
    OneOf(errors, path.Child("internalTrafficPolicy"), StringAt(spec, "internalTrafficPolicy"),
          {"Cluster", "Local"});
  } else if (type == "ClusterIP" || type == "NodePort" || type == "LoadBalancer") {
    errors.push_back(api::RequiredError(path.Child("internalTrafficPolicy")));
  }
  if (Find(spec, "trafficDistribution") != nullptr) {
    OneOf(errors, path.Child("trafficDistribution"), StringAt(spec, "trafficDistribution"),
          {"PreferClose", "PreferSameZone", "PreferSameNode"});
  }
}

}  // namespace

FieldErrors ValidateServiceSpec(const Json& service, const Json* old) {
  FieldErrors errors;
  const Json& spec = ObjectAt(service, "spec");
  const Json& old_spec = old == nullptr ? api::EmptyObject() : ObjectAt(*old, "spec");
  const Json& ports = ListAt(spec, "ports");
  const Path path("spec");
  if (ports.empty() && !IsHeadless(service) && StringAt(spec, "type") != "ExternalName") {
    errors.push_back(api::RequiredError(path.Child("ports")));
  }
  ByType(errors, service, path);
  Ports(errors, ports, path.Child("ports"));
  if (const Json* selector = Find(spec, "selector")) {
    api::Append(errors, ValidateLabels(*selector, path.Child("selector")));
  }
  SessionAffinity(errors, spec, path);
  api::Append(errors, ValidateClusterIps(service, old));
  ExternalIps(errors, spec, TextsOf(ListAt(old_spec, "externalIPs")), path.Child("externalIPs"));
  if (StringAt(spec, "type").empty()) {
    errors.push_back(api::RequiredError(path.Child("type")));
  } else {
    OneOf(errors, path.Child("type"), StringAt(spec, "type"),
          {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"});
  }
  NodePorts(errors, service, path.Child("ports"));
  LoadBalancer(errors, spec, old_spec, path);
  TrafficPolicies(errors, service, path);
  return errors;
}

FieldErrors ValidateServiceStatus(const Json& service, const Json& old) {
  FieldErrors errors = ChangedMetadata(service, old);
  const Path path = Path("status").Child("loadBalancer", "ingress");
  const Json& ingress = ListAt(service, "status", "loadBalancer", "ingress");
  if (ingress.empty()) return errors;
  if (StringAt(service, "spec", "type") != "LoadBalancer") {
    errors.push_back(api::ForbiddenError(path, "may only be used when `spec.type` is 'LoadBalancer'"));
    return errors;
  }
  Texts old_addresses;
  for (const Json& point : ListAt(old, "status", "loadBalancer", "ingress"))
    old_addresses.insert(StringAt(point, "ip"));
  for (std::size_t i = 0; i < ingress.size(); ++i) {
    const Path here = path.Index(i);
    const std::string_view ip = StringAt(ingress[i], "ip");
    const std::string_view hostname = StringAt(ingress[i], "hostname");
    if (!ip.empty()) ValidIp(errors, ip, old_addresses, here.Child("ip"));
    if (Find(ingress[i], "ipMode") == nullptr) {
      if (!ip.empty())
        errors.push_back(api::RequiredError(here.Child("ipMode"), "must be specified when `ip` is set"));
    } else if (ip.empty()) {
      errors.push_back(
          api::ForbiddenError(here.Child("ipMode"), "may not be specified when `ip` is not set"));
    } else {
      OneOf(errors, here.Child("ipMode"), StringAt(ingress[i], "ipMode"), {"Proxy", "VIP"});
    }
    if (hostname.empty()) continue;
    AddInvalid(IsDns1123Subdomain(hostname), hostname, here.Child("hostname"), errors);
    if (IpFamily(hostname)) {
      errors.push_back(
          api::InvalidError(here.Child("hostname"), hostname, "must be a DNS name, not an IP address"));
    }
  }
  return errors;
}

}  // namespace terrarium::apiserver::strategy
