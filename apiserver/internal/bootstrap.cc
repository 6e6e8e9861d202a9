#include "apiserver/internal/bootstrap.h"

#include <future>
#include <utility>

#include <spdlog/spdlog.h>

#include "apiserver/internal/request_labels.h"
#include "apiserver/internal/write_path.h"

namespace terrarium::apiserver {
namespace {

// As of a request that the server makes to itself: in Kubernetes these are the first that its metrics show.
void CountOwnRequest(Server& server, const Route& route, int code, api::Time start) {
  RequestLabels labels = ResourceLabels(route, {});
  labels.code = code;
  server.metrics.CountRequest(labels, server.ConnectionClock().Now() - start);
}

// Returns once the object is durable: a client that finds the server ready finds the object as well.
void CreateMissing(Server& server, std::string_view group, std::string_view plural, const std::string& ns,
                   Json object) {
  const std::shared_ptr<const ResourceTable>& table = ResourceTable::BuiltIn();
  const ResourceInfo& resource = *table->Find(group, "v1", plural);
  std::string name = object["metadata"]["name"];
  storage::ObjectKey key{std::string(resource.storage), ns, name};
  Call call{server, {}, {}, {}, nullptr, {}};
  call.route.table = table;
  call.route.resource = &resource;
  call.route.ns = ns;
  call.route.name = name;
  api::Time start = server.ConnectionClock().Now();
  bool exists = server.store.Get(key) != nullptr;
  CountOwnRequest(server, call.route, exists ? 200 : 404, start);
  if (exists) return;
  ApplyAllDefaults(resource, object);
  auto prepared = PrepareNew(call, std::move(object));
  CHECK(prepared.ok());
  std::promise<storage::WriteOutcome> written;
  server.store.Submit({storage::Write::Op::kCreate, key, 0, MakeObject(resource, *prepared)},
                      [&written](storage::WriteOutcome outcome) { written.set_value(std::move(outcome)); });
  storage::WriteOutcome outcome = written.get_future().get();
  call.route.verb = Verb::kCreate;
  CountOwnRequest(server, call.route, outcome.code == storage::WriteOutcome::Code::kOk ? 201 : 500, start);
  if (outcome.code == storage::WriteOutcome::Code::kFailed)
    server.env.log.error("cannot create {}: {}", name, outcome.error);
}

// The Endpoints of the Service `kubernetes` and their slice, which no controller manages.
void CreateOwnEndpoints(Server& server) {
  // DIVERGES: in Kubernetes this is the address at which the kube-apiserver listens, and they are written
  // again when they are deleted. Here it is the gateway of the nodes' network: a server listens on loopback,
  // which no endpoint can have.
  constexpr const char* kAddress = "172.18.0.1";
  const Json port = {{"name", "https"}, {"port", 6443}, {"protocol", "TCP"}};
  CreateMissing(
      server, "", "endpoints", "default",
      {{"metadata",
        {{"name", "kubernetes"}, {"labels", {{"endpointslice.kubernetes.io/skip-mirror", "true"}}}}},
       {"subsets",
        Json::array({{{"addresses", Json::array({{{"ip", kAddress}}})}, {"ports", Json::array({port})}}})}});
  CreateMissing(
      server, "discovery.k8s.io", "endpointslices", "default",
      {{"metadata", {{"name", "kubernetes"}, {"labels", {{"kubernetes.io/service-name", "kubernetes"}}}}},
       {"addressType", "IPv4"},
       {"endpoints",
        Json::array({{{"addresses", Json::array({kAddress})}, {"conditions", {{"ready", true}}}}})},
       {"ports", Json::array({port})}});
}

}  // namespace

void CreateClusterObjects(Server& server) {
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"})
    CreateMissing(server, "", "namespaces", "", {{"metadata", {{"name", name}}}});
  CreateMissing(
      server, "", "services", "default",
      {{"metadata",
        {{"name", "kubernetes"}, {"labels", {{"component", "apiserver"}, {"provider", "kubernetes"}}}}},
       {"spec",
        {{"type", "ClusterIP"},
         {"clusterIP", "10.96.0.1"},
         {"ports", {{{"name", "https"}, {"port", 443}, {"protocol", "TCP"}, {"targetPort", 6443}}}}}}});
  CreateOwnEndpoints(server);
}

}  // namespace terrarium::apiserver
