#include "tests/controllers/endpoints/endpoints_testing.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "controllers/runtime/owner_references.h"
#include "tests/controllers/runtime/fake_client.h"

namespace terrarium::controllers::endpoints {

using api::Json;

ServiceView MakeService(const Json& spec, const Json& metadata) {
  Json service = {
      {"metadata",
       {{"name", "web"},
        {"namespace", "default"},
        {"uid", "su"},
        {"creationTimestamp", "2026-01-01T00:00:00Z"}}},
      {"spec",
       {{"clusterIP", "10.96.0.7"},
        {"type", "ClusterIP"},
        {"ipFamilies", Json::array({"IPv4"})},
        {"selector", {{"app", "web"}}},
        {"ports", {{{"name", "http"}, {"port", 80}, {"protocol", "TCP"}, {"targetPort", 8080}}}}}}};
  service["spec"].update(spec);
  service["metadata"].update(metadata);
  return ReadServiceView(controllers_testing::MakeObject(service));
}

PodFactsPtr MakePod(const std::string& name, const PodOptions& options) {
  auto pod = std::make_shared<PodFacts>();
  pod->name = {"default", name};
  pod->uid = name + "-uid";
  pod->node_name = options.node;
  pod->ips = {options.ip};
  pod->has_address = true;
  pod->ready = options.ready;
  pod->deleting = options.deleting;
  pod->ports = options.ports;
  return pod;
}

ServicePods::Pods MakePods(int count, int first) {
  ServicePods::Pods pods;
  for (int i = first; i < first + count; ++i) {
    char name[16];
    std::snprintf(name, sizeof(name), "web-%03d", i);
    const std::string ip = "10.244." + std::to_string(i / 250) + "." + std::to_string(i % 250 + 1);
    pods[name] = MakePod(name, {.ip = ip});
  }
  return pods;
}

std::optional<NodeZone> InZone(const std::string& /*node*/) { return NodeZone{"z"}; }

Slices Applied(const SlicePlan& plan, const Slices& existing, const ServiceView& service) {
  std::map<std::string, SlicePtr> slices;
  for (const SlicePtr& slice : existing) slices[slice->name] = slice;
  for (const SlicePtr& slice : plan.remove) slices.erase(slice->name);
  const SliceOwner owner{.name = service.name,
                         .resource = "services",
                         .kind = "Service",
                         .reference = ControllerReference(*service.object, "v1", "Service")};
  auto put = [&](Json document) {
    document["metadata"]["namespace"] = "default";
    const std::string name = document["metadata"]["name"];
    slices[name] = ReadSlice(controllers_testing::MakeObject(document, 7));
  };
  for (const SliceDraft& draft : plan.update)
    put(draft.remade ? NewDocument(draft, owner) : ChangedDocument(draft));
  int number = 0;
  for (const SliceDraft& draft : plan.create) {
    Json document = NewDocument(draft, owner);
    std::string name;
    do {
      name = "n" + std::to_string(number++);
    } while (slices.contains(name));
    document["metadata"]["name"] = name;
    put(std::move(document));
  }
  Slices out;
  for (const auto& [name, slice] : slices) out.push_back(slice);
  return out;
}

std::vector<std::size_t> Sizes(const Slices& slices) {
  std::vector<std::size_t> sizes;
  for (const SlicePtr& slice : slices) sizes.push_back(slice->endpoints.size());
  return sizes;
}

}  // namespace terrarium::controllers::endpoints
