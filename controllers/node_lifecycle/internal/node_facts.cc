#include "controllers/node_lifecycle/internal/node_facts.h"

#include "api/core_v1/pod.h"
#include "api/core_v1/taint.h"
#include "api/json_access.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::StringAt;

Ready ReadyOf(std::string_view status) {
  if (status == "True") return Ready::kTrue;
  return status == "False" ? Ready::kFalse : Ready::kUnknown;
}

std::string ZoneOf(const Json& labels) {
  std::string_view region = StringAt(labels, "topology.kubernetes.io/region");
  if (region.empty()) region = StringAt(labels, "failure-domain.beta.kubernetes.io/region");
  std::string_view zone = StringAt(labels, "topology.kubernetes.io/zone");
  if (zone.empty()) zone = StringAt(labels, "failure-domain.beta.kubernetes.io/zone");
  if (region.empty() && zone.empty()) return "";
  // A name of a region or zone has no such characters, so that no two pairs give one text.
  using namespace std::string_literals;
  return std::string(region) + ":\0:"s + std::string(zone);
}

}  // namespace

NodeFacts FactsOf(const Json& node) {
  NodeFacts facts;
  facts.created = api::ParseTime(StringAt(node, "metadata", "creationTimestamp")).value_or(api::Time());
  if (const Json* ready = api::FindCondition(node, "Ready")) {
    facts.ready = ReadyOf(StringAt(*ready, "status"));
    facts.heartbeat = StringAt(*ready, "lastHeartbeatTime");
  }
  const Json& labels = api::ObjectAt(node, "metadata", "labels");
  facts.zone = ZoneOf(labels);
  facts.counts_for_zone = api::Find(labels, "node.kubernetes.io/exclude-disruption") == nullptr;
  facts.evicts_not_ready = api::HasTaint(node, api::taint::kNotReady, api::taint::kNoExecute);
  facts.evicts_unreachable = api::HasTaint(node, api::taint::kUnreachable, api::taint::kNoExecute);
  return facts;
}

}  // namespace terrarium::controllers
