// How namespaces, configuration and identities are printed.

#include "api/json_access.h"
#include "apiserver/table/internal/printer.h"

namespace terrarium::apiserver::table {
namespace {

using api::Json;

constexpr Column kNamespaceColumns[] = {
    kNameColumn, {"Status", "string", "", "The status of the namespace"}, kAgeColumn};

constexpr Column kSecretColumns[] = {
    kNameColumn,
    {"Type", "string", "",
     "Used to facilitate programmatic handling of secret data. More info: "
     "https://kubernetes.io/docs/concepts/configuration/secret/#secret-types"},
    {"Data", "string", "",
     "Data contains the secret data. Each key must consist of alphanumeric characters, '-', '_' or '.'. The "
     "serialized "
     "form of the secret data is a base64 encoded string, representing the arbitrary (possibly non-string) "
     "data value "
     "here. Described in https://tools.ietf.org/html/rfc4648#section-4"},
    kAgeColumn,
};

constexpr Column kConfigMapColumns[] = {
    kNameColumn, {"Data", "string", "", "How many entries data and binaryData have together."}, kAgeColumn};

constexpr Column kServiceAccountColumns[] = {kNameColumn, kAgeColumn};

constexpr Column kQuotaColumns[] = {
    kNameColumn,
    {"Request", "string", "",
     "Request represents a minimum amount of cpu/memory that a container may consume."},
    {"Limit", "string", "",
     "Limits control the maximum amount of cpu/memory that a container may use independent of contention on "
     "the node."},
    kAgeColumn,
};

constexpr Column kLeaseColumns[] = {
    kNameColumn,
    {"Holder", "string", "",
     "holderIdentity contains the identity of the holder of a current lease. If Coordinated Leader Election "
     "is used, "
     "the holder identity must be equal to the elected LeaseCandidate.metadata.name field."},
    kAgeColumn,
};

std::int64_t Entries(const Json& object, std::string_view field) {
  return static_cast<std::int64_t>(api::ObjectAt(object, field).size());
}

std::vector<Json> NamespaceCells(const Json& object, api::Time now) {
  return {Name(object), api::StringAt(object, "status", "phase"), Age(object, now)};
}

std::vector<Json> SecretCells(const Json& object, api::Time now) {
  return {Name(object), api::StringAt(object, "type"), Entries(object, "data"), Age(object, now)};
}

std::vector<Json> ConfigMapCells(const Json& object, api::Time now) {
  return {Name(object), Entries(object, "data") + Entries(object, "binaryData"), Age(object, now)};
}

std::vector<Json> ServiceAccountCells(const Json& object, api::Time now) {
  return {Name(object), Age(object, now)};
}

// "pods: 2/4, requests.cpu: 500m/1" of the resources whose names do or do not begin with "limits.".
std::string UsedOfHard(const Json& quota, bool limits) {
  std::string text;
  for (const auto& [name, hard] : api::ObjectAt(quota, "status", "hard").items()) {
    if (name.starts_with("limits.") != limits) continue;
    if (!text.empty()) text += ", ";
    text.append(name).append(": ").append(OrElse(api::StringAt(quota, "status", "used", name), "0"));
    text.append("/").append(hard.get_ref<const std::string&>());
  }
  return text;
}

std::vector<Json> QuotaCells(const Json& object, api::Time now) {
  return {Name(object), UsedOfHard(object, false), UsedOfHard(object, true), Age(object, now)};
}

std::vector<Json> LeaseCells(const Json& object, api::Time now) {
  return {Name(object), api::StringAt(object, "spec", "holderIdentity"), Age(object, now)};
}

constexpr Printer kCorePrinters[] = {
    {"", "ConfigMap", kConfigMapColumns, ConfigMapCells},
    {"", "Namespace", kNamespaceColumns, NamespaceCells},
    {"", "ResourceQuota", kQuotaColumns, QuotaCells},
    {"", "Secret", kSecretColumns, SecretCells},
    {"", "ServiceAccount", kServiceAccountColumns, ServiceAccountCells},
    {"coordination.k8s.io", "Lease", kLeaseColumns, LeaseCells},
};

}  // namespace

std::span<const Printer> CorePrinters() { return kCorePrinters; }

}  // namespace terrarium::apiserver::table
