#include "testbed/control_plane/call_targets.h"

#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "apiserver/validation/formats.h"

namespace terrarium::testbed {
namespace {

using api::HttpAnswer;
using api::Json;
using api::ObjectName;

constexpr std::size_t kServicesMax = 1000;
constexpr std::size_t kServicePortsMax = 100;
constexpr std::string_view kServiceSuffixes[] = {".svc", ".svc.cluster.local"};

bool IsServiceHost(std::string_view host) {
  return host == "svc" || host.ends_with(kServiceSuffixes[0]) || host.ends_with(kServiceSuffixes[1]);
}

// NAME.NAMESPACE.svc, with the cluster's domain or without.
std::optional<ObjectName> ServiceOf(std::string_view host) {
  for (std::string_view suffix : kServiceSuffixes) {
    if (!host.ends_with(suffix)) continue;
    std::string_view names = host.substr(0, host.size() - suffix.size());
    std::size_t dot = names.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    ObjectName service{std::string(names.substr(dot + 1)), std::string(names.substr(0, dot))};
    if (!apiserver::IsDns1123Label(service.name).empty() || !apiserver::IsDns1123Label(service.ns).empty())
      return std::nullopt;
    return service;
  }
  return std::nullopt;
}

std::string HostPort(const std::string& host, std::optional<std::uint16_t> port) {
  std::string out = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port ? out + ":" + std::to_string(*port) : out;
}

HttpAnswer Failed(HttpAnswer::Outcome outcome, std::string error) {
  HttpAnswer answer;
  answer.outcome = outcome;
  answer.error = std::move(error);
  return answer;
}

HttpAnswer NotAllowed(const std::string& what) {
  return Failed(HttpAnswer::Outcome::kNotAllowed,
                what + " may not be called: --pod-picker-allow does not list it");
}

HttpAnswer NoSuchPort(const std::string& what, const std::string& port) {
  return Failed(HttpAnswer::Outcome::kUnknownHost, what + " has no port " + api::Quote(port));
}

}  // namespace

void CallTargets::SetServicePorts(ServicePorts ports) { service_ports_ = std::move(ports); }

Json CallTargets::ToJson(const ObjectName& service, const Registration& registration) {
  Json out = {{"namespace", service.ns},
              {"name", service.name},
              {"address", HostPort(registration.host, registration.port)}};
  for (const auto& [port, number] : registration.ports) out["ports"][port] = number;
  return out;
}

api::Result<CallTargets::Registration> CallTargets::Parse(const Json& body) const {
  for (const auto& [name, value] : body.items())
    if (name != "address" && name != "ports") return api::BadRequest("unknown field " + api::Quote(name));
  const Json* address = api::Find(body, "address");
  if (address == nullptr || !address->is_string())
    return api::BadRequest(R"(address is missing: where the service listens, like "127.0.0.1:9000")");
  auto parsed = ParseHostAndPort(address->get_ref<const std::string&>());
  if (!parsed || parsed->host.empty())
    return api::BadRequest("address: " + api::Quote(address->get_ref<const std::string&>()) +
                           " is not HOST or HOST:PORT");
  if (IsServiceHost(parsed->host)) return api::BadRequest("address: a Service cannot stand for another one");
  Registration out{parsed->host, parsed->port, {}};
  if (const Json* ports = api::Find(body, "ports")) {
    if (!ports->is_object()) return api::BadRequest(R"(ports: an object like {"https": 9443, "8080": 9001})");
    if (ports->size() > kServicePortsMax)
      return api::BadRequest("ports: at most " + std::to_string(kServicePortsMax) + " of a Service");
    for (const auto& [port, number] : ports->items()) {
      if (!ParsePort(port) && !apiserver::IsValidPortName(port).empty())
        return api::BadRequest("ports: " + api::Quote(port) +
                               " is neither the name of a port nor its number");
      if (!number.is_number_integer() || number < 1 || number > 65535)
        return api::BadRequest("ports: the port that stands for " + api::Quote(port) +
                               " must be a number from 1 to 65535");
      out.ports[port] = number.get<std::uint16_t>();
    }
  }
  return out;
}

api::Result<Json> CallTargets::Register(const ObjectName& service, const Json& body) {
  if (!apiserver::IsDns1123Label(service.ns).empty() || !apiserver::IsDns1123Label(service.name).empty())
    return api::BadRequest(api::Quote(service.String()) + " is not the namespace and name of a Service");
  auto parsed = Parse(body);
  if (!parsed) return parsed.status();
  // Whether it may be called depends on the port of the call. A host that is listed with no port at all is a
  // mistake that is better found now.
  bool allowed = allowed_.Allows(parsed->host, parsed->port);
  for (const auto& [port, number] : parsed->ports) allowed = allowed || allowed_.Allows(parsed->host, number);
  if (!allowed) return api::BadRequest("address: " + NotAllowed(HostPort(parsed->host, parsed->port)).error);
  Json out = ToJson(service, *parsed);
  std::lock_guard lock(mutex_);
  if (!registered_.contains(service) && registered_.size() >= kServicesMax)
    return api::BadRequest("addresses of at most " + std::to_string(kServicesMax) +
                           " Services can be registered: remove some first");
  registered_[service] = std::move(*parsed);
  return out;
}

api::Result<Json> CallTargets::Unregister(const ObjectName& service) {
  std::lock_guard lock(mutex_);
  auto node = registered_.extract(service);
  if (node.empty()) return api::NotFound({"terrarium.dev", "services"}, service.String());
  return ToJson(service, node.mapped());
}

Json CallTargets::List() const {
  Json list = Json::array();
  std::lock_guard lock(mutex_);
  for (const auto& [service, registration] : registered_) list.push_back(ToJson(service, registration));
  return {{"services", std::move(list)}};
}

std::variant<CallTarget, HttpAnswer> CallTargets::Find(const api::HttpCall& call) const {
  std::string host = NormalHost(call.host);
  auto port = ParsePort(call.port);
  if (!allowed_.Allows(host, port)) return NotAllowed(HostPort(host, port));
  if (IsServiceHost(host)) {
    if (auto service = ServiceOf(host)) return FindService(call, *service);
    return Failed(HttpAnswer::Outcome::kUnknownHost,
                  host + " is not the name of a Service: NAME.NAMESPACE.svc");
  }
  if (!port) return NoSuchPort(host, call.port);
  return CallTarget{host, *port};
}

std::variant<CallTarget, HttpAnswer> CallTargets::FindService(const api::HttpCall& call,
                                                              const ObjectName& service) const {
  Registration registration;
  {
    std::lock_guard lock(mutex_);
    auto it = registered_.find(service);
    if (it == registered_.end())
      return Failed(HttpAnswer::Outcome::kUnknownHost,
                    "no address is registered for Service " + service.String() +
                        R"(: PUT {"address": "127.0.0.1:PORT"} to /terrarium/v1/services/)" +
                        service.String() + "/address");
    registration = it->second;
  }
  auto port = PortOf(service, registration, call.port);
  if (!port) return NoSuchPort("Service " + service.String(), call.port);
  if (!allowed_.Allows(registration.host, port))
    return NotAllowed("Service " + service.String() + " is registered at " +
                      HostPort(registration.host, port) + ", which");
  return CallTarget{registration.host, *port};
}

std::optional<std::uint16_t> CallTargets::PortOf(const ObjectName& service, const Registration& registration,
                                                 const std::string& port) const {
  auto registered = [&registration](const std::string& key) -> std::optional<std::uint16_t> {
    auto it = registration.ports.find(key);
    if (it == registration.ports.end()) return std::nullopt;
    return it->second;
  };
  if (auto found = registered(port)) return found;
  // The Service may know the port by its other name.
  auto number = ParsePort(port);
  std::optional<std::uint16_t> of_service = number;
  if (service_ports_) {
    for (const ServicePort& each : service_ports_(service)) {
      bool is_it = number ? each.number == *number : each.name == port;
      if (!is_it) continue;
      of_service = each.number;
      if (auto found = registered(number ? each.name : std::to_string(each.number))) return found;
    }
  }
  return registration.port ? registration.port : of_service;
}

}  // namespace terrarium::testbed
