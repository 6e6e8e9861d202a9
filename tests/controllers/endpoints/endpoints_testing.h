#pragma once

// Services, pods and slices for tests of the decisions about endpoints.

#include <string>
#include <vector>

#include "api/json.h"
#include "controllers/endpoints/internal/pod_facts.h"
#include "controllers/endpoints/internal/service_pods.h"
#include "controllers/endpoints/internal/service_slices.h"
#include "controllers/endpoints/internal/service_view.h"
#include "controllers/endpoints/internal/slice.h"

namespace terrarium::controllers::endpoints {

// The Service `web` with the uid `su`, the port http (80, on 8080) and `spec` over it.
ServiceView MakeService(const api::Json& spec = api::Json::object(),
                        const api::Json& metadata = api::Json::object());

struct PodOptions {
  std::string ip = "10.244.0.1";
  std::string node = "node-0";
  bool ready = true;
  bool deleting = false;
  std::vector<PodFacts::NamedPort> ports = {};
};
PodFactsPtr MakePod(const std::string& name, const PodOptions& options = {});
// Ready pods web-000, web-001, ...
ServicePods::Pods MakePods(int count, int first = 0);

// Every node is in the zone "z".
std::optional<NodeZone> InZone(const std::string& node);

// The slices that exist after the plan was carried out on `existing`. New ones are named n0, n1, ...
Slices Applied(const SlicePlan& plan, const Slices& existing, const ServiceView& service);

// The numbers of endpoints, by slice.
std::vector<std::size_t> Sizes(const Slices& slices);

}  // namespace terrarium::controllers::endpoints
