#include "apiserver/internal/bootstrap.h"

#include <future>
#include <utility>

#include <spdlog/spdlog.h>

#include "apiserver/internal/write_path.h"

namespace terrarium::apiserver {
namespace {

// Returns once the object is durable, so that whoever finds the server ready finds it as well.
void CreateMissing(Server& server, std::string_view plural, const std::string& ns, Json object) {
  const ResourceInfo& resource = *ResourceTable::Get().Find("", "v1", plural);
  std::string name = object["metadata"]["name"];
  storage::ObjectKey key{std::string(resource.storage), ns, name};
  if (server.store.Get(key) != nullptr) return;
  Call call{server, {}, {}, {}, nullptr, {}};
  call.route.resource = &resource;
  call.route.ns = ns;
  ApplyAllDefaults(resource, object);
  auto prepared = PrepareNew(call, std::move(object));
  CHECK(prepared.ok());
  std::promise<storage::WriteOutcome> written;
  server.store.Submit({storage::Write::Op::kCreate, key, 0, MakeObject(resource, *prepared)},
                      [&written](storage::WriteOutcome outcome) { written.set_value(std::move(outcome)); });
  storage::WriteOutcome outcome = written.get_future().get();
  if (outcome.code == storage::WriteOutcome::Code::kFailed)
    server.env.log.error("cannot create {}: {}", name, outcome.error);
}

}  // namespace

void CreateClusterObjects(Server& server) {
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"})
    CreateMissing(server, "namespaces", "", {{"metadata", {{"name", name}}}});
  CreateMissing(server, "services", "default",
                {{"metadata",
                  {{"name", "kubernetes"}, {"labels", {{"component", "apiserver"}, {"provider", "kubernetes"}}}}},
                 {"spec",
                  {{"type", "ClusterIP"},
                   {"clusterIP", "10.96.0.1"},
                   {"ports", {{{"name", "https"}, {"port", 443}, {"protocol", "TCP"}, {"targetPort", 6443}}}}}}});
}

}  // namespace terrarium::apiserver
