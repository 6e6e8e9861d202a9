#include "apiserver/internal/resource_metrics.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/base/duration.h"
#include "api/base/errors.h"
#include "api/core_v1/pod.h"
#include "api/core_v1/resource_list.h"
#include "api/json_access.h"
#include "apiserver/internal/listing.h"
#include "apiserver/internal/options.h"
#include "apiserver/internal/respond.h"
#include "apiserver/internal/verbs.h"

namespace terrarium::apiserver {
namespace {

using api::Result;

constexpr const char* kGroup = "metrics.k8s.io";
// metrics-server's resolution: it knows the usage of a container that has run for as long.
constexpr api::Duration kWindow = std::chrono::seconds(15);

// Reads the metrics of one instant.
class MetricsReader {
 public:
  explicit MetricsReader(const Server& server) : server_(server), now_(server.env.clock.Now()) {}

  // nullopt: metrics-server would have none, since the pod does not run or has just been started, or since
  // its kubelet does not respond.
  std::optional<Json> OfPod(const api::Object& pod) {
    if (api::PodPhase(pod) != "Running" || !Responds(api::PodNodeName(pod))) return std::nullopt;
    const auto usage = UsageOf(pod);
    if (!usage || usage->empty()) return std::nullopt;
    Json containers = Json::array();
    for (const api::ContainerUsage& container : *usage) {
      if (now_ - container.started < kWindow) return std::nullopt;
      containers.push_back({{"name", container.name}, {"usage", ListOf(container)}});
    }
    Json metrics = Stamped(pod.header());
    metrics["containers"] = std::move(containers);
    return metrics;
  }

  std::optional<Json> OfNode(const api::Object& node) {
    if (!Responds(node.header().name)) return std::nullopt;
    if (!totals_) AddUp();
    api::ResourceList usage = {{"cpu", {}}, {"memory", {}}};
    api::AddTo(usage, (*totals_)[node.header().name]);
    Json metrics = Stamped(node.header());
    metrics["usage"] = api::WriteResourceList(usage);
    return metrics;
  }

 private:
  static Json ListOf(const api::ContainerUsage& usage) {
    return {{"cpu", usage.cpu.ToString()}, {"memory", usage.memory.ToString()}};
  }

  std::optional<std::vector<api::ContainerUsage>> UsageOf(const api::Object& pod) const {
    if (!server_.options.pod_usage) return std::nullopt;
    return server_.options.pod_usage(pod);
  }

  bool Responds(const std::string& node) {
    auto [known, fresh] = responds_.try_emplace(node, false);
    if (!fresh) return known->second;
    const api::ObjectPtr object = server_.store.Get({"nodes", "", node});
    if (object == nullptr) return false;
    const auto document = object->Document();
    const Json* ready = api::FindCondition(*document, "Ready");
    return known->second = ready != nullptr && api::StringAt(*ready, "status") == "True";
  }

  // The usage of all nodes: a node's pods are not indexed.
  void AddUp() {
    totals_.emplace();
    storage::ListQuery query;
    query.resource = "pods";
    const auto pods = server_.store.List(query);
    if (!pods) return;
    for (const api::ObjectPtr& pod : pods->items) {
      if (api::PodNodeName(*pod).empty() || api::IsPodTerminal(*pod)) continue;
      const auto usage = UsageOf(*pod);
      if (!usage) continue;
      for (const api::ContainerUsage& container : *usage)
        api::AddTo((*totals_)[api::PodNodeName(*pod)],
                   {{"cpu", container.cpu}, {"memory", container.memory}});
    }
  }

  // What metrics of pods and nodes have in common.
  Json Stamped(const api::ObjectHeader& of) const {
    Json metadata = {{"name", of.name}, {"creationTimestamp", api::FormatTime(now_)}};
    if (!of.ns.empty()) metadata["namespace"] = of.ns;
    for (const auto& [key, value] : of.labels) metadata["labels"][key] = value;
    return {{"metadata", std::move(metadata)},
            {"timestamp", api::FormatTime(now_)},
            {"window", api::FormatDuration(kWindow)}};
  }

  const Server& server_;
  const api::Time now_;
  std::map<std::string, bool> responds_;  // by node
  std::optional<std::map<std::string, api::ResourceList>> totals_;
};

api::Status NoMetrics(const char* resource, const std::string& name) {
  return api::NotFound({kGroup, resource}, name);
}

Result<Json> MetricsOfPod(const Server& server, const api::ObjectName& name) {
  const api::ObjectPtr pod = server.store.Get({"pods", name.ns, name.name});
  // metrics-server sees only pods that run.
  if (pod == nullptr || api::PodPhase(*pod) != "Running") return api::NotFound({"", "pods"}, name.name);
  std::optional<Json> metrics = MetricsReader(server).OfPod(*pod);
  if (!metrics) return NoMetrics("podmetrics", name.String());
  return std::move(*metrics);
}

Result<Json> MetricsOfNode(const Server& server, const std::string& name) {
  const api::ObjectPtr node = server.store.Get({"nodes", "", name});
  if (node == nullptr) return api::NotFound({"", "nodes"}, name);
  std::optional<Json> metrics = MetricsReader(server).OfNode(*node);
  if (!metrics) return NoMetrics("nodemetrics", name);
  return std::move(*metrics);
}

void GetMetrics(const CallPtr& call) {
  if (auto plain = RefuseExport(call->request); !plain) return RespondError(call, plain.status());
  const ResourceInfo& resource = call->resource();
  const api::ObjectName name{call->route.ns, call->route.name};
  Result<Json> metrics =
      resource.namespaced ? MetricsOfPod(call->server, name) : MetricsOfNode(call->server, name.name);
  if (!metrics) return RespondError(call, metrics.status());
  (*metrics)["kind"] = resource.kind;
  (*metrics)["apiVersion"] = resource.GroupVersion();
  RespondDocument(call, 200, *metrics, resource.Schema());
}

// As metrics-server does: one page, whatever the limit.
void ListMetrics(const CallPtr& call) {
  auto options = ParseListOptions(call->request, call->resource(), false);
  if (!options) return RespondError(call, options.status());
  const bool of_pods = call->resource().namespaced;
  storage::ListQuery query;
  query.resource = call->resource().plural;
  if (!call->route.ns.empty()) query.ns = call->route.ns;
  const auto listing = call->server.store.List(query);
  if (!listing) return RespondError(call, api::InternalError("the current state cannot be read"));
  MetricsReader reader(call->server);
  std::vector<Json> items;
  for (const api::ObjectPtr& object : listing->items) {
    if (!Matches(*options, *object)) continue;
    std::optional<Json> metrics = of_pods ? reader.OfPod(*object) : reader.OfNode(*object);
    if (metrics) items.push_back(std::move(*metrics));
  }
  RespondDocuments(call, std::move(items));
}

}  // namespace

Result<api::ObjectPtr> ComputeMetrics(const Server& server, std::string_view resource,
                                      const api::ObjectName& name) {
  const bool of_pods = resource == "pods.metrics.k8s.io";
  if (!of_pods && resource != "nodes.metrics.k8s.io") return api::UnknownResource();
  Result<Json> metrics = of_pods ? MetricsOfPod(server, name) : MetricsOfNode(server, name.name);
  if (!metrics) return metrics.status();
  api::ObjectHeader header = api::ReadHeader(*metrics);
  return api::Object::Make(std::move(header), std::move(*metrics));
}

void ServeResourceMetrics(const CallPtr& call) {
  return call->route.verb == Verb::kList ? ListMetrics(call) : GetMetrics(call);
}

}  // namespace terrarium::apiserver
