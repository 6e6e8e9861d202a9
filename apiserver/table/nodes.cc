// How nodes are printed.

#include <set>

#include "api/json_access.h"
#include "apiserver/table/internal/printer.h"

namespace terrarium::apiserver::table {
namespace {

using api::Json;

constexpr Column kNodeColumns[] = {
    kNameColumn,
    {"Status", "string", "", "The status of the node"},
    {"Roles", "string", "", "The roles of the node"},
    kAgeColumn,
    {"Version", "string", "", "The version of the kubelet on the node."},
    {"Internal-IP", "string", "", "The first address of type InternalIP.", 1},
    {"External-IP", "string", "", "The first address of type ExternalIP.", 1},
    {"OS-Image", "string", "", "The operating system as the node reports it.", 1},
    {"Kernel-Version", "string", "", "The kernel as the node reports it, with its architecture.", 1},
    {"Container-Runtime", "string", "", "The container runtime and its version.", 1},
};

std::string Status(const Json& node) {
  std::string_view ready = ConditionStatus(api::ListAt(node, "status", "conditions"), "Ready");
  std::string out = ready.empty() ? "Unknown" : ready == "True" ? "Ready" : "NotReady";
  if (api::BoolAt(node, "spec", "unschedulable")) out += ",SchedulingDisabled";
  return out;
}

// From labels node-role.kubernetes.io/ROLE and kubernetes.io/role=ROLE.
std::string Roles(const Json& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  for (const auto& [key, value] : api::ObjectAt(node, "metadata", "labels").items()) {
    if (key.starts_with(kPrefix)) roles.insert(key.substr(kPrefix.size()));
    if (key == "kubernetes.io/role" && value.is_string()) roles.insert(value.get<std::string>());
  }
  roles.erase("");
  std::string out;
  for (const std::string& role : roles) {
    if (!out.empty()) out += ',';
    out += role;
  }
  return OrElse(out, kNone);
}

std::string Address(const Json& node, std::string_view type) {
  for (const Json& address : api::ListAt(node, "status", "addresses"))
    if (api::StringAt(address, "type") == type) return std::string(api::StringAt(address, "address"));
  return std::string(kNone);
}

std::vector<Json> NodeCells(const Json& node, api::Time now) {
  const Json& info = api::ObjectAt(node, "status", "nodeInfo");
  std::string kernel = OrElse(api::StringAt(info, "kernelVersion"), kUnknown);
  if (std::string_view arch = api::StringAt(info, "architecture"); !arch.empty())
    kernel.append(" (").append(arch).append(")");
  return {Name(node),
          Status(node),
          Roles(node),
          Age(node, now),
          api::StringAt(info, "kubeletVersion"),
          Address(node, "InternalIP"),
          Address(node, "ExternalIP"),
          OrElse(api::StringAt(info, "osImage"), kUnknown),
          kernel,
          OrElse(api::StringAt(info, "containerRuntimeVersion"), kUnknown)};
}

constexpr Printer kNodePrinters[] = {{"", "Node", kNodeColumns, NodeCells}};

}  // namespace

std::span<const Printer> NodePrinters() { return kNodePrinters; }

}  // namespace terrarium::apiserver::table
