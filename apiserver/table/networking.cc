// How Endpoints, EndpointSlices and the kinds of networking.k8s.io are printed.

#include <algorithm>
#include <cctype>
#include <set>

#include "api/json_access.h"
#include "apiserver/table/internal/printer.h"

namespace terrarium::apiserver::table {
namespace {

using api::Json;

constexpr Column kIngressColumns[] = {
    kNameColumn,
    {"Class", "string", "",
     "The name of the IngressClass resource that should be used for additional configuration"},
    {"Hosts", "string", "", "Hosts that incoming requests are matched against before the ingress rule"},
    {"Address", "string", "", "Address is a list containing ingress points for the load-balancer"},
    {"Ports", "string", "", "Ports of TLS configurations that open"},
    kAgeColumn,
};
constexpr Column kIngressClassColumns[] = {
    kNameColumn,
    {"Controller", "string", "", "Controller that is responsible for handling this class"},
    {"Parameters", "string", "", "A reference to a resource with additional parameters"},
    kAgeColumn,
};
constexpr Column kPolicyColumns[] = {
    kNameColumn, {"Pod-Selector", "string", "", "The pods that the policy applies to."}, kAgeColumn};
constexpr Column kCidrColumns[] = {
    kNameColumn, {"CIDRs", "string", "", "The ranges that cluster IPs are taken from."}, kAgeColumn};
constexpr Column kAddressColumns[] = {kNameColumn,
                                      {"ParentRef", "string", "", "The object that has the address."}};
constexpr Column kEndpointsColumns[] = {
    kNameColumn, {"Endpoints", "string", "", "Addresses and ports that are ready."}, kAgeColumn};
constexpr Column kSliceColumns[] = {
    kNameColumn,
    {"AddressType", "string", "", "The type of the addresses."},
    {"Ports", "string", "", "The ports of every endpoint."},
    {"Endpoints", "string", "", "The addresses of the endpoints."},
    kAgeColumn,
};

// The first items of a list, and how many more there are.
class FirstItems {
 public:
  void Add(std::string item) {
    if (++count_ <= kShown) AppendItem(text_, item);
  }
  std::string Text() const {
    return count_ > kShown ? text_ + " + " + std::to_string(count_ - kShown) + " more..." : text_;
  }

 private:
  static constexpr int kShown = 3;
  std::string text_;
  int count_ = 0;
};

// Kubernetes counts the rules without a host among those that are not shown.
std::string HostsText(const Json& rules) {
  constexpr std::size_t kShown = 3;
  std::string out;
  std::size_t shown = 0;
  bool more = false;
  for (const Json& rule : rules) {
    if (shown == kShown) more = true;
    const std::string_view host = api::StringAt(rule, "host");
    if (more || host.empty()) continue;
    AppendItem(out, host);
    ++shown;
  }
  if (shown == 0) return "*";
  return more ? out + " + " + std::to_string(rules.size() - kShown) + " more..." : out;
}

std::string BalancerText(const Json& points) {
  std::set<std::string_view> sorted;
  for (const Json& point : points) {
    const std::string_view ip = api::StringAt(point, "ip");
    const std::string_view text = ip.empty() ? api::StringAt(point, "hostname") : ip;
    if (!text.empty()) sorted.insert(text);
  }
  std::string out;
  for (std::string_view text : sorted) AppendItem(out, text);
  return out;
}

std::vector<Json> IngressCells(const Json& ingress, api::Time now) {
  const Json* name = api::Find(ingress, "spec", "ingressClassName");
  return {Name(ingress),
          name == nullptr ? Json(kNone) : *name,
          HostsText(api::ListAt(ingress, "spec", "rules")),
          BalancerText(api::ListAt(ingress, "status", "loadBalancer", "ingress")),
          api::ListAt(ingress, "spec", "tls").empty() ? "80" : "80, 443",
          Age(ingress, now)};
}

std::vector<Json> IngressClassCells(const Json& object, api::Time now) {
  std::string parameters(kNone);
  if (const Json* reference = api::Find(object, "spec", "parameters")) {
    parameters = api::StringAt(*reference, "kind");
    if (api::Find(*reference, "apiGroup") != nullptr)
      parameters.append(".").append(api::StringAt(*reference, "apiGroup"));
    parameters.append("/").append(api::StringAt(*reference, "name"));
  }
  return {NameOfDefault(object, {"ingressclass.kubernetes.io/is-default-class"}),
          api::StringAt(object, "spec", "controller"), parameters, Age(object, now)};
}

std::vector<Json> PolicyCells(const Json& object, api::Time now) {
  return {Name(object), SelectorText(api::Find(object, "spec", "podSelector")), Age(object, now)};
}

std::vector<Json> CidrCells(const Json& object, api::Time now) {
  return {Name(object), JoinTexts(api::ListAt(object, "spec", "cidrs")), Age(object, now)};
}

// Kubernetes adds the age as a third cell, for which it has no column.
std::vector<Json> AddressCells(const Json& object, api::Time /*now*/) {
  std::string text(kNone);
  if (const Json* parent = api::Find(object, "spec", "parentRef")) {
    text = api::StringAt(*parent, "resource");
    if (const std::string_view group = api::StringAt(*parent, "group"); !group.empty())
      text.append(".").append(group);
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (const std::string_view ns = api::StringAt(*parent, "namespace"); !ns.empty())
      text.append("/").append(ns);
    text.append("/").append(api::StringAt(*parent, "name"));
  }
  return {Name(object), text};
}

std::string HostPort(std::string_view ip, const Json& port) {
  std::string host(ip);
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return host + ":" + std::to_string(api::IntAt(port, 0, "port"));
}

std::string EndpointsText(const Json& subsets) {
  if (subsets.empty()) return std::string(kNone);
  FirstItems items;
  for (const Json& subset : subsets) {
    const Json& ports = api::ListAt(subset, "ports");
    const Json& addresses = api::ListAt(subset, "addresses");
    if (ports.empty())
      for (const Json& address : addresses) items.Add(std::string(api::StringAt(address, "ip")));
    for (const Json& port : ports)
      for (const Json& address : addresses) items.Add(HostPort(api::StringAt(address, "ip"), port));
  }
  return items.Text();
}

std::vector<Json> EndpointsCells(const Json& object, api::Time now) {
  return {Name(object), EndpointsText(api::ListAt(object, "subsets")), Age(object, now)};
}

std::string OrUnsetText(const FirstItems& items) { return OrElse(items.Text(), kUnset); }

std::vector<Json> SliceCells(const Json& object, api::Time now) {
  FirstItems ports;
  for (const Json& port : api::ListAt(object, "ports")) {
    if (const Json* number = api::Find(port, "port"))
      ports.Add(std::to_string(number->get<std::int64_t>()));
    else if (api::Find(port, "name") != nullptr)
      ports.Add(std::string(api::StringAt(port, "name")));
    else
      ports.Add("*");
  }
  FirstItems addresses;
  for (const Json& endpoint : api::ListAt(object, "endpoints"))
    for (const Json& address : api::ListAt(endpoint, "addresses")) addresses.Add(address);
  return {Name(object), api::StringAt(object, "addressType"), OrUnsetText(ports), OrUnsetText(addresses),
          Age(object, now)};
}

constexpr std::string_view kGroup = "networking.k8s.io";
constexpr Printer kPrinters[] = {
    {"", "Endpoints", kEndpointsColumns, EndpointsCells},
    {"discovery.k8s.io", "EndpointSlice", kSliceColumns, SliceCells},
    {kGroup, "Ingress", kIngressColumns, IngressCells},
    {kGroup, "IngressClass", kIngressClassColumns, IngressClassCells},
    {kGroup, "IPAddress", kAddressColumns, AddressCells},
    {kGroup, "NetworkPolicy", kPolicyColumns, PolicyCells},
    {kGroup, "ServiceCIDR", kCidrColumns, CidrCells},
};

}  // namespace

std::span<const Printer> NetworkingPrinters() { return kPrinters; }

}  // namespace terrarium::apiserver::table
