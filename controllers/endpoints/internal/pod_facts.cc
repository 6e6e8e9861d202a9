#include "controllers/endpoints/internal/pod_facts.h"

#include "api/core_v1/pod.h"
#include "api/json_access.h"

namespace terrarium::controllers::endpoints {
namespace {

using api::Json;

void AddNamedPorts(const Json& container, std::vector<PodFacts::NamedPort>& ports) {
  for (const Json& port : api::ListAt(container, "ports")) {
    const std::string_view name = api::StringAt(port, "name");
    if (name.empty()) continue;
    ports.push_back({.name = std::string(name),
                     .protocol = std::string(api::StringAt(port, "protocol")),
                     .number = api::IntAt(port, 0, "containerPort")});
  }
}

}  // namespace

PodFactsPtr ReadPodFacts(const api::Object& pod) {
  auto facts = std::make_shared<PodFacts>();
  const std::shared_ptr<const Json> document = pod.Document();
  facts->name = pod.name();
  facts->uid = pod.header().uid;
  facts->node_name = api::PodNodeName(pod);
  facts->ended = api::IsPodTerminal(pod);
  facts->deleting = pod.header().deleting;
  const Json& spec = api::ObjectAt(*document, "spec");
  facts->hostname = api::StringAt(spec, "hostname");
  facts->subdomain = api::StringAt(spec, "subdomain");
  for (const Json& container : api::ListAt(spec, "containers")) AddNamedPorts(container, facts->ports);
  for (const Json& container : api::ListAt(spec, "initContainers"))
    if (api::StringAt(container, "restartPolicy") == "Always") AddNamedPorts(container, facts->ports);
  const Json& status = api::ObjectAt(*document, "status");
  for (const Json& ip : api::ListAt(status, "podIPs")) facts->ips.emplace_back(api::StringAt(ip, "ip"));
  facts->has_address = !facts->ips.empty() || !api::StringAt(status, "podIP").empty();
  if (const Json* condition = api::FindCondition(*document, "Ready")) {
    facts->ready = api::StringAt(*condition, "status") == "True";
    facts->readiness_changed = api::ParseTime(api::StringAt(*condition, "lastTransitionTime"));
  }
  return facts;
}

bool EndpointsChanged(const PodFacts& before, const PodFacts& after) {
  // Kubernetes compares pointers to the deletion time: each update of a terminating pod counts as a change.
  return before.deleting || after.deleting || before.ready != after.ready || before.ips != after.ips;
}

}  // namespace terrarium::controllers::endpoints
