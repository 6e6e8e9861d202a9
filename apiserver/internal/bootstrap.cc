#include "apiserver/internal/bootstrap.h"

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "api/base/prng.h"
#include "apiserver/internal/field_owners.h"
#include "apiserver/internal/flow_control_objects.h"
#include "apiserver/internal/request_labels.h"
#include "apiserver/internal/write_path.h"
#include "apiserver/system_priority_classes.h"

namespace terrarium::apiserver {
namespace {

// As of a request that the server makes to itself: in Kubernetes these are the first that its metrics show.
void CountOwnRequest(Server& server, const Route& route, int code, api::Time start) {
  RequestLabels labels = ResourceLabels(route, {});
  labels.code = code;
  server.metrics.CountRequest(labels, server.ConnectionClock().Now() - start);
}

// Creates objects that are missing; all of them are durable when Finish() has returned: a client that finds
// the server ready finds the objects as well.
class Creator {
 public:
  explicit Creator(Server& server) : server_(server) {}

  // `status` becomes the object's, unless it is null.
  void CreateMissing(std::string_view group, std::string_view plural, const std::string& ns, Json object,
                     const Json& status = nullptr) {
    const std::shared_ptr<const ResourceTable>& table = ResourceTable::BuiltIn();
    const ResourceInfo& resource = *table->Find(group, "v1", plural);
    std::string name = object["metadata"]["name"];
    storage::ObjectKey key{std::string(resource.storage), ns, name};
    Call call{server_, {}, {}, {}, nullptr, {}};
    call.route.table = table;
    call.route.resource = &resource;
    call.route.ns = ns;
    call.route.name = name;
    const api::Time start = server_.ConnectionClock().Now();
    const bool exists = server_.store.Get(key) != nullptr;
    CountOwnRequest(server_, call.route, exists ? 200 : 404, start);
    if (exists) return;
    ApplyAllDefaults(resource, object);
    auto prepared = PrepareNew(call, std::move(object), OwnersOfNew(call, "kube-apiserver"));
    CHECK(prepared.ok());
    if (!status.is_null()) prepared->document["status"] = status;
    auto written = std::make_shared<std::promise<storage::WriteOutcome>>();
    call.route.verb = Verb::kCreate;
    pending_.push_back({call.route, start, written->get_future()});
    server_.store.Submit(
        {storage::Write::Op::kCreate, key, 0, MakeObject(resource, std::move(*prepared))},
        [written](storage::WriteOutcome outcome) { written->set_value(std::move(outcome)); });
  }

  void Finish() {
    for (Pending& each : pending_) {
      const storage::WriteOutcome outcome = each.written.get();
      CountOwnRequest(server_, each.route, outcome.code == storage::WriteOutcome::Code::kOk ? 201 : 500,
                      each.start);
      if (outcome.code == storage::WriteOutcome::Code::kFailed)
        server_.env.log.error("cannot create {}: {}", each.route.name, outcome.error);
    }
    pending_.clear();
  }

 private:
  struct Pending {
    Route route;
    api::Time start;
    std::future<storage::WriteOutcome> written;
  };
  Server& server_;
  std::vector<Pending> pending_;  // so that one commit can have all of them
};

Json ReadyCondition(api::Time now) {
  return {{"type", "Ready"},
          {"status", "True"},
          {"reason", ""},
          {"message", "Kubernetes default Service CIDR is ready"},
          {"lastTransitionTime", api::FormatTime(now)}};
}

// The Endpoints of the Service `kubernetes` and their slice, which no controller manages.
void CreateOwnEndpoints(Creator& creator) {
  // DIVERGES: in Kubernetes this is the address at which the kube-apiserver listens, and they are written
  // again when they are deleted. Here it is the gateway of the nodes' network: a server listens on loopback,
  // which no endpoint can have.
  constexpr const char* kAddress = "172.18.0.1";
  const Json port = {{"name", "https"}, {"port", 6443}, {"protocol", "TCP"}};
  creator.CreateMissing(
      "", "endpoints", "default",
      {{"metadata",
        {{"name", "kubernetes"}, {"labels", {{"endpointslice.kubernetes.io/skip-mirror", "true"}}}}},
       {"subsets",
        Json::array({{{"addresses", Json::array({{{"ip", kAddress}}})}, {"ports", Json::array({port})}}})}});
  creator.CreateMissing(
      "discovery.k8s.io", "endpointslices", "default",
      {{"metadata", {{"name", "kubernetes"}, {"labels", {{"kubernetes.io/service-name", "kubernetes"}}}}},
       {"addressType", "IPv4"},
       {"endpoints",
        Json::array({{{"addresses", Json::array({kAddress})}, {"conditions", {{"ready", true}}}}})},
       {"ports", Json::array({port})}});
}

// What kube-apiserver's own controllers and hooks create.
void CreateConfiguration(Server& server, Creator& creator) {
  CreateOwnEndpoints(creator);
  const api::Time now = server.env.clock.Now();
  creator.CreateMissing("networking.k8s.io", "servicecidrs", "",
                        {{"metadata", {{"name", "kubernetes"}}}, {"spec", {{"cidrs", {"10.96.0.0/12"}}}}},
                        {{"conditions", Json::array({ReadyCondition(now)})}});
  for (const SystemPriorityClass& known : kSystemPriorityClasses)
    creator.CreateMissing(
        "scheduling.k8s.io", "priorityclasses", "",
        {{"metadata", {{"name", known.name}}}, {"value", known.value}, {"description", known.description}});
  constexpr const char* kFlowControl = "flowcontrol.apiserver.k8s.io";
  for (Json& level : PriorityLevels())
    creator.CreateMissing(kFlowControl, "prioritylevelconfigurations", "", std::move(level));
  for (Json& schema : FlowSchemas(now)) {
    const Json status = std::move(schema["status"]);
    creator.CreateMissing(kFlowControl, "flowschemas", "", std::move(schema), status);
  }
}

}  // namespace

void CreateClusterObjects(Server& server) {
  Creator creator(server);
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"})
    creator.CreateMissing("", "namespaces", "", {{"metadata", {{"name", name}}}});
  creator.CreateMissing(
      "", "services", "default",
      {{"metadata",
        {{"name", "kubernetes"}, {"labels", {{"component", "apiserver"}, {"provider", "kubernetes"}}}}},
       {"spec",
        {{"type", "ClusterIP"},
         {"clusterIP", "10.96.0.1"},
         {"ports", {{{"name", "https"}, {"port", 443}, {"protocol", "TCP"}, {"targetPort", 6443}}}}}}});
  creator.Finish();
  // A stream of their own, so that the names and uids of other objects do not depend on their number.
  const api::ObjectPtr service = server.store.Get({"services", "default", "kubernetes"});
  api::Prng prng(std::hash<std::string>()((service == nullptr ? "" : service->header().uid) +
                                          std::to_string(server.store.CurrentRevision())));
  Server own{{server.env.clock, server.env.executor, prng, server.env.gates, server.env.log},
             server.store,
             server.options,
             server.metrics,
             server.registry};
  Creator configuration(own);
  CreateConfiguration(own, configuration);
  configuration.Finish();
}

}  // namespace terrarium::apiserver
