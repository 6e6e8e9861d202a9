#include "kubelet-fake/nodes/internal/node_documents.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/core_v1/pod.h"
#include "api/json_access.h"

namespace terrarium::kubelet_fake {

using api::Find;
using api::Json;
using api::ListAt;
using api::ObjectAt;
using api::StringAt;
using api::Time;

namespace {

constexpr int kLeaseDurationSeconds = 40;
constexpr const char* kKubeletVersion = "v1.36.4";
constexpr const char* kZoneLabel = "topology.kubernetes.io/zone";
constexpr std::array<const char*, 3> kZones = {"zone-a", "zone-b", "zone-c"};

struct HealthyCondition {
  const char* type;
  const char* status;
  const char* reason;
  const char* message;
};
// Ready comes last, as in the kubelet.
constexpr HealthyCondition kHealthy[] = {
    {"MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"},
    {"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
    {"PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
    {"Ready", "True", "KubeletReady", "kubelet is posting ready status"},
};

Json DefaultLabels(const std::string& name) {
  return {{"beta.kubernetes.io/arch", "amd64"},
          {"beta.kubernetes.io/os", "linux"},
          {"kubernetes.io/arch", "amd64"},
          {"kubernetes.io/hostname", name},
          {"kubernetes.io/os", "linux"}};
}

Json Capacity(const NodeAgentOptions& options) {
  return {{"cpu", options.cpu},
          {"ephemeral-storage", options.ephemeral_storage},
          {"memory", options.memory},
          {"pods", std::to_string(options.pods)}};
}

Json NodeInfo(const Machine& machine) {
  std::string machine_id = machine.uuid;
  std::erase(machine_id, '-');
  return {{"architecture", "amd64"},
          {"bootID", machine.uuid},
          {"containerRuntimeVersion", "terrarium://fake"},
          {"kernelVersion", "6.12.0"},
          {"kubeProxyVersion", ""},
          {"kubeletVersion", kKubeletVersion},
          {"machineID", machine_id},
          {"operatingSystem", "linux"},
          {"osImage", "Terrarium"},
          {"systemUUID", machine.uuid}};
}

Json Addresses(const std::string& name, const std::string& ip) {
  return Json::array(
      {Json{{"type", "InternalIP"}, {"address", ip}}, Json{{"type", "Hostname"}, {"address", name}}});
}

Json Healthy(const HealthyCondition& condition, Time now) {
  return {{"type", condition.type},
          {"status", condition.status},
          {"reason", condition.reason},
          {"message", condition.message},
          {"lastHeartbeatTime", api::FormatTime(now)},
          {"lastTransitionTime", api::FormatTime(now)}};
}

// The entries of `wanted` that `present` lacks.
Json Missing(const Json& wanted, const Json& present) {
  Json missing = Json::object();
  for (const auto& [key, value] : wanted.items())
    if (Find(present, key) == nullptr) missing[key] = value;
  return missing;
}

bool MustBePutRight(const Json* condition, const HealthyCondition& healthy, StatusReport report) {
  if (condition == nullptr) return true;
  const std::string_view status = StringAt(*condition, "status");
  return status == "Unknown" || (report == StatusReport::kRecovery && status != healthy.status);
}

// Adds to `status` the fields that the creator of the node did not set.
void FillIn(const Json& node, const NodeAgentOptions& options, const Machine& machine, Json& status) {
  const Json& given = ObjectAt(node, "status");
  const Json capacity = Missing(Capacity(options), ObjectAt(given, "capacity"));
  if (!capacity.empty()) status["capacity"] = capacity;
  // The whole capacity is allocatable, unless the creator set something else.
  Json whole = Capacity(options);
  whole.update(ObjectAt(given, "capacity"));
  const Json allocatable = Missing(whole, ObjectAt(given, "allocatable"));
  if (!allocatable.empty()) status["allocatable"] = allocatable;
  if (ListAt(given, "addresses").empty())
    status["addresses"] = Addresses(std::string(StringAt(node, "metadata", "name")), machine.ip);
  if (StringAt(given, "nodeInfo", "kubeletVersion").empty()) status["nodeInfo"] = NodeInfo(machine);
}

}  // namespace

std::string NodeAddress(int n) {
  const int host = n + 2;  // .0 is the network, .1 its gateway
  return "172." + std::to_string(18 + host / 65536) + "." + std::to_string(host / 256 % 256) + "." +
         std::to_string(host % 256);
}

std::string PodRange(int n) {
  // 10.244 to 10.255, then 10.128 to 10.243. This avoids the Service network in 10.96.
  constexpr int kFirst = 244, kLowest = 128, kCount = 128;
  const int block = n / 256;
  if (block >= kCount) return "";
  const int second = kLowest + (kFirst - kLowest + block) % kCount;
  return "10." + std::to_string(second) + "." + std::to_string(n % 256) + ".0/24";
}

Json InitialNode(const NodeAgentOptions& options, int index, const Machine& machine, Time now) {
  const std::string name = "node-" + std::to_string(index);
  Json labels = DefaultLabels(name);
  labels[kZoneLabel] = kZones[static_cast<std::size_t>(index) % kZones.size()];
  for (const auto& [key, value] : options.labels) labels[key] = value;
  Json node = {{"metadata", {{"name", name}, {"labels", std::move(labels)}}}};
  const std::string range = PodRange(index);
  if (!range.empty()) node["spec"] = {{"podCIDR", range}, {"podCIDRs", Json::array({range})}};
  Json status = Json::object();
  FillIn(node, options, machine, status);
  status["conditions"] = Json::array();
  for (const HealthyCondition& condition : kHealthy) status["conditions"].push_back(Healthy(condition, now));
  node["status"] = std::move(status);
  return node;
}

std::optional<Json> AdoptionPatch(const Json& node, const std::string& pod_range) {
  Json patch = Json::object();
  const Json labels = Missing(DefaultLabels(std::string(StringAt(node, "metadata", "name"))),
                              ObjectAt(node, "metadata", "labels"));
  if (!labels.empty()) patch["metadata"]["labels"] = labels;
  if (StringAt(node, "spec", "podCIDR").empty() && !pod_range.empty())
    patch["spec"] = {{"podCIDR", pod_range}, {"podCIDRs", Json::array({pod_range})}};
  if (patch.empty()) return std::nullopt;
  patch["metadata"]["uid"] = StringAt(node, "metadata", "uid");
  return patch;
}

std::optional<Json> StatusPatch(const Json& node, const NodeAgentOptions& options, const Machine& machine,
                                StatusReport report, Time now) {
  Json status = Json::object();
  FillIn(node, options, machine, status);
  Json conditions = Json::array();
  bool put_right = false;
  for (const HealthyCondition& healthy : kHealthy) {
    const Json* existing = api::FindCondition(node, healthy.type);
    const bool wrong = MustBePutRight(existing, healthy, report);
    put_right = put_right || wrong;
    conditions.push_back(wrong ? Healthy(healthy, now)
                               : Json{{"type", healthy.type}, {"lastHeartbeatTime", api::FormatTime(now)}});
  }
  if (status.empty() && !put_right && report == StatusReport::kRepair) return std::nullopt;
  status["conditions"] = std::move(conditions);
  return Json{{"metadata", {{"uid", StringAt(node, "metadata", "uid")}}}, {"status", std::move(status)}};
}

std::string_view InternalIpOf(const Json& node) {
  for (const Json& address : ListAt(node, "status", "addresses"))
    if (StringAt(address, "type") == "InternalIP") return StringAt(address, "address");
  return {};
}

Json LeaseOf(const api::Object& node, Json existing, Time now) {
  const api::ObjectHeader& owner = node.header();
  Json lease = existing.is_object() ? std::move(existing) : Json::object();
  Json& metadata = lease["metadata"];
  metadata["name"] = owner.name;
  metadata["namespace"] = "kube-node-lease";
  // Replaced, not kept: a node that was deleted and created again has another uid, and the garbage collector
  // would delete a lease that refers to the old one.
  metadata["ownerReferences"] =
      Json::array({Json{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", owner.name}, {"uid", owner.uid}}});
  Json& spec = lease["spec"];
  spec["holderIdentity"] = owner.name;
  spec["leaseDurationSeconds"] = kLeaseDurationSeconds;
  spec["renewTime"] = api::FormatMicroTime(now);
  return lease;
}

}  // namespace terrarium::kubelet_fake
