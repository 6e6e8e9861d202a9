// Endpoints and EndpointSlice.

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/ip.h"
#include "apiserver/strategy/internal/plain_kind.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

void CheckDnsLabel(std::string_view text, const Path& path, FieldErrors& errors) {
  AddInvalid(IsDns1123Label(text), text, path, errors);
}

void CheckProtocol(const Json& port, const Path& path, FieldErrors& errors) {
  const std::string_view protocol = StringAt(port, "protocol");
  if (protocol.empty())
    errors.push_back(api::RequiredError(path.Child("protocol")));
  else
    OneOf(errors, path.Child("protocol"), protocol, {"SCTP", "TCP", "UDP"});
  if (const Json* app = Find(port, "appProtocol"))
    AddInvalid(IsQualifiedName(app->get_ref<const std::string&>()), app->get_ref<const std::string&>(),
               path.Child("appProtocol"), errors);
}

void CheckNodeName(const Json& holder, const Path& path, FieldErrors& errors) {
  if (const Json* node = Find(holder, "nodeName")) {
    const std::string& name = node->get_ref<const std::string&>();
    AddInvalid(NameIsDnsSubdomain(name, false), name, path.Child("nodeName"), errors);
  }
}

void CheckAddress(const Json& address, const Path& path, FieldErrors& errors) {
  const std::string_view ip = StringAt(address, "ip");
  api::Append(errors, IsValidIp(ip, path.Child("ip")));
  if (const std::string_view host = StringAt(address, "hostname"); !host.empty())
    CheckDnsLabel(host, path.Child("hostname"), errors);
  CheckNodeName(address, path, errors);
  if (!IpFamily(ip)) errors.push_back(api::InvalidError(path.Child("ip"), ip, "must be a valid IP address"));
  OrdinaryIp(errors, ip, path.Child("ip"));
}

void CheckPort(const Json& port, bool needs_name, const Path& path, FieldErrors& errors) {
  const std::string_view name = StringAt(port, "name");
  if (!name.empty())
    CheckDnsLabel(name, path.Child("name"), errors);
  else if (needs_name)
    errors.push_back(api::RequiredError(path.Child("name")));
  const std::int64_t number = IntAt(port, 0, "port");
  for (const std::string& message : IsValidPortNum(number))
    errors.push_back(api::InvalidError(path.Child("port"), number, message));
  CheckProtocol(port, path, errors);
}

void CheckSubset(const Json& subset, const Path& path, FieldErrors& errors) {
  const Json& ready = ListAt(subset, "addresses");
  const Json& waiting = ListAt(subset, "notReadyAddresses");
  if (ready.empty() && waiting.empty())
    errors.push_back(api::RequiredError(path, "must specify `addresses` or `notReadyAddresses`"));
  for (std::size_t i = 0; i < ready.size(); ++i)
    CheckAddress(ready[i], path.Child("addresses").Index(i), errors);
  for (std::size_t i = 0; i < waiting.size(); ++i)
    CheckAddress(waiting[i], path.Child("notReadyAddresses").Index(i), errors);
  const Json& ports = ListAt(subset, "ports");
  for (std::size_t i = 0; i < ports.size(); ++i)
    CheckPort(ports[i], ports.size() > 1, path.Child("ports").Index(i), errors);
}

// The label's value: such an object comes from the controller named, which writes no unusual addresses.
bool IsManagedBy(const Json& object, const char* label, std::string_view manager) {
  return StringAt(object, "metadata", "labels", label) == manager;
}

void AddIpWarnings(const Json& addresses, const Path& path, std::vector<std::string>& warnings) {
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const bool plain = addresses[i].is_string();
    const std::string_view ip =
        plain ? std::string_view(addresses[i].get_ref<const std::string&>()) : StringAt(addresses[i], "ip");
    const Path at = path.Index(i);
    for (std::string& warning : IpWarnings(ip, plain ? at : at.Child("ip")))
      warnings.push_back(std::move(warning));
  }
}

// Whether an update leaves a list as it is: values that were stored by laxer rules may stay.
bool IsUnchanged(const Json& object, const Json* old, std::string_view list) {
  return old != nullptr && ListAt(object, list) == ListAt(*old, list);
}

class Endpoints final : public PlainKind {
 public:
  Endpoints() : PlainKind({.create_on_update = true}) {}

  std::vector<std::string> Warnings(const StrategyContext& /*context*/, const Json& object,
                                    const Json* /*old*/) const override {
    std::vector<std::string> warnings;
    if (IsManagedBy(object, "endpoints.kubernetes.io/managed-by", "endpoint-controller")) return warnings;
    const Json& subsets = ListAt(object, "subsets");
    for (std::size_t i = 0; i < subsets.size(); ++i)
      for (const char* list : {"addresses", "notReadyAddresses"})
        AddIpWarnings(ListAt(subsets[i], list), Path("subsets").Index(i).Child(list), warnings);
    return warnings;
  }

 private:
  void Check(const Json& object, const Json* old, FieldErrors& errors) const override {
    if (IsUnchanged(object, old, "subsets")) return;
    const Json& subsets = ListAt(object, "subsets");
    for (std::size_t i = 0; i < subsets.size(); ++i)
      CheckSubset(subsets[i], Path("subsets").Index(i), errors);
  }
};

constexpr int kEndpointsMax = 1000;
constexpr int kAddressesMax = 100;
constexpr int kPortsMax = 20000;
constexpr int kHintsMax = 8;

void CheckSliceAddress(std::string_view address, std::string_view type, const Path& list, std::size_t index,
                       FieldErrors& errors) {
  if (type != "IPv4" && type != "IPv6") {
    if (type == "FQDN") AddInvalid(IsDns1123Subdomain(address), address, list.Index(index), errors);
    return;
  }
  FieldErrors malformed = IsValidIp(address, list.Index(index));
  if (!malformed.empty()) return api::Append(errors, std::move(malformed));
  if (FamilyOf(address) != type)
    errors.push_back(api::InvalidError(list, address, "must be an " + std::string(type) + " address"));
  OrdinaryIp(errors, address, list.Index(index));
}

void CheckHints(const Json& hints, const char* field, NameCheck rule, const Path& path, FieldErrors& errors) {
  const Json& list = ListAt(hints, field);
  const Path here = path.Child(field);
  if (list.size() > kHintsMax) {
    errors.push_back(api::TooManyError(here, static_cast<int>(list.size()), kHintsMax));
    return;
  }
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string_view name = StringAt(list[i], "name");
    const Path at = here.Index(i).Child("name");
    if (!seen.insert(name).second) errors.push_back(api::DuplicateError(at, name));
    AddInvalid(rule(name, false), name, at, errors);
  }
}

std::vector<std::string> IsZoneName(std::string_view name, bool /*prefix*/) {
  return IsValidLabelValue(name);
}

void CheckEndpoint(const Json& endpoint, std::string_view type, const Path& path, FieldErrors& errors) {
  const Path addresses_path = path.Child("addresses");
  const Json& addresses = ListAt(endpoint, "addresses");
  if (addresses.empty())
    errors.push_back(api::RequiredError(addresses_path, "must contain at least 1 address"));
  else if (addresses.size() > kAddressesMax)
    errors.push_back(api::TooManyError(addresses_path, static_cast<int>(addresses.size()), kAddressesMax));
  for (std::size_t i = 0; i < addresses.size(); ++i)
    CheckSliceAddress(addresses[i].get_ref<const std::string&>(), type, addresses_path, i, errors);
  CheckNodeName(endpoint, path, errors);
  api::Append(errors,
              ValidateLabels(ObjectAt(endpoint, "deprecatedTopology"), path.Child("deprecatedTopology")));
  if (const Json* host = Find(endpoint, "hostname"))
    CheckDnsLabel(host->get_ref<const std::string&>(), path.Child("hostname"), errors);
  if (const Json* hints = Find(endpoint, "hints")) {
    CheckHints(*hints, "forZones", IsZoneName, path.Child("hints"), errors);
    CheckHints(*hints, "forNodes", NameIsDnsSubdomain, path.Child("hints"), errors);
  }
}

void CheckSlicePorts(const Json& ports, FieldErrors& errors) {
  const Path path("ports");
  if (ports.size() > kPortsMax) {
    errors.push_back(api::TooManyError(path, static_cast<int>(ports.size()), kPortsMax));
    return;
  }
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::string_view name = StringAt(ports[i], "name");
    if (!name.empty()) CheckDnsLabel(name, path.Index(i).Child("name"), errors);
    if (!names.insert(name).second) errors.push_back(api::DuplicateError(path.Index(i).Child("name"), name));
    CheckProtocol(ports[i], path.Index(i), errors);
  }
}

class EndpointSlice final : public PlainKind {
 public:
  EndpointSlice() : PlainKind({.generation = Generation::kContent}) {}

  // A change of labels counts as well.
  bool BumpsGeneration(const Json& object, const Json& old) const override {
    return PlainKind::BumpsGeneration(object, old) ||
           ObjectAt(object, "metadata", "labels") != ObjectAt(old, "metadata", "labels");
  }

  void PrepareForCreate(const StrategyContext& /*context*/, Json& object) const override {
    DropDeprecatedTopology(object);
  }
  void PrepareForUpdate(const StrategyContext& /*context*/, Json& object, const Json& old) const override {
    if (!IsUnchanged(object, &old, "endpoints")) DropDeprecatedTopology(object);
  }

  std::vector<std::string> Warnings(const StrategyContext& /*context*/, const Json& object,
                                    const Json* old) const override {
    constexpr const char* kLabel = "endpointslice.kubernetes.io/managed-by";
    std::vector<std::string> warnings;
    if (old == nullptr && StringAt(object, "addressType") == "FQDN")
      warnings.push_back("spec.addressType: FQDN endpoints are deprecated");
    if (IsManagedBy(object, kLabel, "endpointslice-controller.k8s.io") ||
        IsManagedBy(object, kLabel, "endpointslicemirroring-controller.k8s.io"))
      return warnings;
    const Json& endpoints = ListAt(object, "endpoints");
    for (std::size_t i = 0; i < endpoints.size(); ++i)
      AddIpWarnings(ListAt(endpoints[i], "addresses"), Path("endpoints").Index(i).Child("addresses"),
                    warnings);
    return warnings;
  }

 private:
  void Check(const Json& object, const Json* old, FieldErrors& errors) const override {
    const std::string_view type = StringAt(object, "addressType");
    if (type.empty())
      errors.push_back(api::RequiredError(Path("addressType")));
    else
      OneOf(errors, Path("addressType"), type, {"FQDN", "IPv4", "IPv6"});
    CheckSlicePorts(ListAt(object, "ports"), errors);
    if (!IsUnchanged(object, old, "endpoints")) CheckEndpoints(ListAt(object, "endpoints"), type, errors);
    if (old != nullptr) Immutable(errors, object, *old, "addressType", Path());
  }

  // A field of v1beta1, which v1 accepts and ignores.
  static void DropDeprecatedTopology(Json& object) {
    if (ListAt(object, "endpoints").empty()) return;
    for (Json& endpoint : object["endpoints"]) endpoint.erase("deprecatedTopology");
  }

  static void CheckEndpoints(const Json& endpoints, std::string_view type, FieldErrors& errors) {
    const Path path("endpoints");
    if (endpoints.size() > kEndpointsMax) {
      errors.push_back(api::TooManyError(path, static_cast<int>(endpoints.size()), kEndpointsMax));
      return;
    }
    for (std::size_t i = 0; i < endpoints.size(); ++i)
      CheckEndpoint(endpoints[i], type, path.Index(i), errors);
  }
};

}  // namespace

const Strategy& EndpointsStrategy() {
  static const Endpoints strategy;
  return strategy;
}

const Strategy& EndpointSliceStrategy() {
  static const EndpointSlice strategy;
  return strategy;
}

}  // namespace terrarium::apiserver
