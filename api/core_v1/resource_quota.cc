#include "api/core_v1/resource_quota.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/core_v1/pod.h"
#include "api/core_v1/volume_binding.h"
#include "api/json_access.h"

namespace terrarium::api {
namespace {

constexpr std::string_view kRequests = "requests.";

constexpr std::array<std::string_view, 10> kPodNames = {"cpu",
                                                        "ephemeral-storage",
                                                        "limits.cpu",
                                                        "limits.ephemeral-storage",
                                                        "limits.memory",
                                                        "memory",
                                                        "pods",
                                                        "requests.cpu",
                                                        "requests.ephemeral-storage",
                                                        "requests.memory"};
constexpr std::array<std::string_view, 3> kServiceNames = {"services", "services.loadbalancers",
                                                           "services.nodeports"};
// Also as CLASS.storageclass.storage.k8s.io/NAME, for the claims of a StorageClass.
constexpr std::array<std::string_view, 2> kClaimNames = {"persistentvolumeclaims", "requests.storage"};
constexpr std::string_view kOfClass = ".storageclass.storage.k8s.io/";
// Kinds that could be counted before count/RESOURCE was there.
constexpr std::array<std::string_view, 4> kOldNames = {"configmaps", "replicationcontrollers",
                                                       "resourcequotas", "secrets"};

template <typename Names>
bool Contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsPods(const GroupResource& resource) { return resource.group.empty() && resource.resource == "pods"; }
bool IsServices(const GroupResource& resource) {
  return resource.group.empty() && resource.resource == "services";
}

bool IsClaims(const GroupResource& resource) {
  return resource.group.empty() && resource.resource == "persistentvolumeclaims";
}

bool IsClaimName(std::string_view name) {
  if (Contains(kClaimNames, name)) return true;
  return std::any_of(kClaimNames.begin(), kClaimNames.end(), [&](std::string_view counted) {
    return name.ends_with(std::string(kOfClass).append(counted));
  });
}

bool IsNative(std::string_view name) {
  return name.find('/') == std::string_view::npos || name.find("kubernetes.io/") != std::string_view::npos;
}

bool IsPodName(std::string_view name) {
  if (Contains(kPodNames, name) || IsHugePageResource(name)) return true;
  if (!name.starts_with(kRequests)) return false;
  return IsHugePageResource(name.substr(kRequests.size())) || !IsNative(name);
}

std::string CountName(const GroupResource& resource) { return "count/" + resource.String(); }

bool StillUsesResources(const Json& pod, Time now) {
  if (IsPodTerminal(pod)) return false;
  auto deleted = ParseTime(StringAt(pod, "metadata", "deletionTimestamp"));
  const Json* grace = Find(pod, "metadata", "deletionGracePeriodSeconds");
  if (!deleted || grace == nullptr) return true;
  return now <= *deleted + std::chrono::seconds(grace->get<std::int64_t>());
}

// The names under which a quota counts these requests and limits, of a pod or of one container.
ResourceList ComputeUsage(const ResourceList& requests, const ResourceList& limits) {
  ResourceList usage;
  for (const auto& [name, amount] : requests) {
    const bool plain =
        name == "cpu" || name == "memory" || name == "ephemeral-storage" || IsHugePageResource(name);
    if (plain) usage[name] = amount;
    if (plain || !IsNative(name)) usage[std::string(kRequests) + name] = amount;
  }
  for (const char* name : {"cpu", "memory", "ephemeral-storage"})
    if (auto limit = limits.find(name); limit != limits.end())
      usage[std::string("limits.") + name] = limit->second;
  return usage;
}

// Kubernetes keeps only for cpu and memory the rule that containers must state the amounts a quota counts.
std::map<std::string, std::vector<std::string>> MissingResources(const Json& spec) {
  std::map<std::string, std::vector<std::string>> missing_resources;
  for (const char* list : {"requests", "limits"}) {
    for (const auto& [name, amount] : ObjectAt(spec, "resources", list).items())
      if (name == "cpu" || name == "memory" || IsHugePageResource(name)) return missing_resources;
  }
  for (const char* list : {"containers", "initContainers"}) {
    for (const Json& container : ListAt(spec, list)) {
      const ResourceList usage = ComputeUsage(ReadResourceList(ObjectAt(container, "resources", "requests")),
                                              ReadResourceList(ObjectAt(container, "resources", "limits")));
      for (const char* name :
           {"cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory"})
        if (!usage.contains(name)) missing_resources[name].emplace_back(StringAt(container, "name"));
    }
  }
  for (auto& [name, containers] : missing_resources) {
    std::sort(containers.begin(), containers.end());
    containers.erase(std::unique(containers.begin(), containers.end()), containers.end());
  }
  return missing_resources;
}

bool CrossesNamespaces(const Json& affinity) {
  auto crosses = [](const Json& term) {
    return !ListAt(term, "namespaces").empty() || Find(term, "namespaceSelector") != nullptr;
  };
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    for (const Json& term : ListAt(affinity, kind, "requiredDuringSchedulingIgnoredDuringExecution"))
      if (crosses(term)) return true;
    for (const Json& term : ListAt(affinity, kind, "preferredDuringSchedulingIgnoredDuringExecution"))
      if (crosses(ObjectAt(term, "podAffinityTerm"))) return true;
  }
  return false;
}

void AddPod(const Json& pod, Time now, QuotaSubject& subject) {
  const Json& spec = ObjectAt(pod, "spec");
  subject.is_pod = true;
  subject.best_effort = StringAt(pod, "status", "qosClass") == "BestEffort";
  subject.has_deadline = IntAt(spec, -1, "activeDeadlineSeconds") >= 0;
  subject.crosses_namespaces = CrossesNamespaces(ObjectAt(spec, "affinity"));
  subject.priority_class = StringAt(spec, "priorityClassName");
  subject.missing_resources = MissingResources(spec);
  if (!StillUsesResources(pod, now)) return;
  subject.usage["pods"] = Quantity::FromInt(1);
  subject.usage.merge(ComputeUsage(PodTotal(spec, "requests"), PodTotal(spec, "limits")));
}

void AddService(const Json& service, QuotaSubject& subject) {
  const Json& ports = ListAt(service, "spec", "ports");
  std::string_view type = StringAt(service, "spec", "type");
  std::int64_t node_ports = 0;
  if (type == "NodePort" || type == "LoadBalancer") node_ports = static_cast<std::int64_t>(ports.size());
  const Json* allocate = Find(service, "spec", "allocateLoadBalancerNodePorts");
  if (type == "LoadBalancer" && allocate != nullptr && !allocate->get<bool>()) {
    node_ports = std::count_if(ports.begin(), ports.end(),
                               [](const Json& port) { return IntAt(port, 0, "nodePort") != 0; });
  }
  subject.usage["services"] = Quantity::FromInt(1);
  subject.usage["services.loadbalancers"] = Quantity::FromInt(type == "LoadBalancer" ? 1 : 0);
  subject.usage["services.nodeports"] = Quantity::FromInt(node_ports);
}

// The size that the claim asks for, or that its volume is growing to if that is more, in whole bytes.
void AddClaim(const Json& claim, QuotaSubject& subject) {
  subject.usage["persistentvolumeclaims"] = Quantity::FromInt(1);
  const ResourceList requests = ReadResourceList(ObjectAt(claim, "spec", "resources", "requests"));
  if (auto requested = requests.find("storage"); requested != requests.end()) {
    Quantity storage = requested->second;
    const ResourceList allocated = ReadResourceList(ObjectAt(claim, "status", "allocatedResources"));
    if (auto growing = allocated.find("storage"); growing != allocated.end() && growing->second > storage)
      storage = growing->second;
    storage.RoundUp(0);
    subject.usage["requests.storage"] = storage;
  }
  const std::string class_name = ClassOfClaim(claim).value_or("");
  if (class_name.empty()) return;
  for (std::string_view name : kClaimNames)
    if (auto used = subject.usage.find(name); used != subject.usage.end())
      subject.usage[std::string(class_name).append(kOfClass).append(name)] = used->second;
}

// The requirement is on the pod's priority class as if it were a label, absent when the pod names none.
bool PriorityClassMatches(const Json& requirement, const std::string& priority_class) {
  std::string_view op = StringAt(requirement, "operator");
  if (op == "Exists") return !priority_class.empty();
  if (op == "DoesNotExist") return priority_class.empty();
  const Json& values = ListAt(requirement, "values");
  const bool among =
      !priority_class.empty() && std::find(values.begin(), values.end(), priority_class) != values.end();
  return op == "NotIn" ? !among : among;
}

bool InScope(std::string_view scope, const QuotaSubject& subject) {
  if (scope == "BestEffort") return subject.best_effort;
  if (scope == "NotBestEffort") return !subject.best_effort;
  if (scope == "Terminating") return subject.has_deadline;
  if (scope == "NotTerminating") return !subject.has_deadline;
  if (scope == "PriorityClass") return !subject.priority_class.empty();
  return scope == "CrossNamespacePodAffinity" && subject.crosses_namespaces;
}

}  // namespace

bool QuotaCounts(const GroupResource& resource, std::string_view name) {
  if (name.starts_with("count/")) return name.substr(6) == resource.String();
  if (IsPods(resource)) return IsPodName(name);
  if (IsServices(resource)) return Contains(kServiceNames, name);
  if (IsClaims(resource)) return IsClaimName(name);
  return resource.group.empty() && name == resource.resource && Contains(kOldNames, name);
}

bool IsFreeOfQuota(const GroupResource& resource) {
  return resource.resource == "events" && (resource.group.empty() || resource.group == "events.k8s.io");
}

QuotaSubject QuotaSubjectOf(const GroupResource& resource, const Json& object, Time now) {
  QuotaSubject subject;
  subject.resource = resource;
  subject.usage[CountName(resource)] = Quantity::FromInt(1);
  if (IsPods(resource)) {
    AddPod(object, now, subject);
  } else if (IsServices(resource)) {
    AddService(object, subject);
  } else if (IsClaims(resource)) {
    AddClaim(object, subject);
  } else if (resource.group.empty() && Contains(kOldNames, resource.resource)) {
    subject.usage[resource.resource] = Quantity::FromInt(1);
  }
  return subject;
}

bool InQuotaScopes(const Json& quota_spec, const QuotaSubject& subject) {
  for (const Json& scope : ListAt(quota_spec, "scopes"))
    if (!subject.is_pod || !InScope(scope.get_ref<const std::string&>(), subject)) return false;
  for (const Json& requirement : ListAt(quota_spec, "scopeSelector", "matchExpressions")) {
    if (!subject.is_pod) return false;
    std::string_view scope = StringAt(requirement, "scopeName");
    const bool in = scope == "PriorityClass" ? PriorityClassMatches(requirement, subject.priority_class)
                                             : InScope(scope, subject);
    if (!in) return false;
  }
  return true;
}

std::vector<std::string> CountedNames(const ResourceList& hard, const GroupResource& resource) {
  std::vector<std::string> names;
  for (const auto& [name, limit] : hard)
    if (QuotaCounts(resource, name)) names.push_back(name);
  return names;
}

ResourceList UsageUnder(const ResourceList& hard, const QuotaSubject& subject) {
  ResourceList usage;
  for (const auto& [name, amount] : subject.usage)
    if (hard.contains(name)) usage.emplace(name, amount);
  return usage;
}

}  // namespace terrarium::api
