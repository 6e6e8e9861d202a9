#include <algorithm>
#include <charconv>
#include <string_view>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "controllers/replicaset/internal/pod_facts.h"

namespace terrarium::controllers::replicaset {
namespace {

using api::Json;
using api::StringAt;

constexpr std::string_view kDeletionCostAnnotation = "controller.kubernetes.io/pod-deletion-cost";

api::Time TimeOr(std::string_view text, api::Time otherwise) {
  return text.empty() ? otherwise : api::ParseTime(text).value_or(otherwise);
}

// 0 for what the apiserver would refuse: "+10", "008", more than 32 bits.
std::int32_t ReadDeletionCost(std::string_view text) {
  const bool plain = text == "0" || (!text.empty() && (text[0] == '-' || (text[0] >= '1' && text[0] <= '9')));
  if (!plain) return 0;
  std::int32_t cost = 0;
  const char* end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, cost);
  return error == std::errc() && rest == end ? cost : 0;
}

std::int8_t PhaseOrdinal(std::string_view phase) {
  if (phase == "Running") return 2;
  return phase == "Unknown" ? 1 : 0;
}

std::int32_t Restarts(const Json& container_status) {
  return static_cast<std::int32_t>(api::IntAt(container_status, 0, "restartCount"));
}

bool IsSidecar(const Json& pod, std::string_view init_container) {
  for (const Json& container : api::ListAt(pod, "spec", "initContainers"))
    if (StringAt(container, "name") == init_container) return StringAt(container, "restartPolicy") == "Always";
  return false;
}

bool HasEnded(const Json& pod) {
  const std::string_view phase = StringAt(pod, "status", "phase");
  return phase == "Succeeded" || phase == "Failed";
}

}  // namespace

PodFacts FactsOf(const api::Object& pod, const Json& document) {
  PodFacts facts;
  facts.active = !pod.header().deleting && !HasEnded(document);
  facts.terminating = pod.header().deleting && !HasEnded(document);
  facts.phase = PhaseOrdinal(StringAt(document, "status", "phase"));
  const Json* ready = api::FindCondition(document, "Ready");
  facts.ready = ready != nullptr && StringAt(*ready, "status") == "True";
  if (facts.ready) facts.ready_since = TimeOr(StringAt(*ready, "lastTransitionTime"), kNoTime);
  facts.created = TimeOr(StringAt(document, "metadata", "creationTimestamp"), kNoTime);
  facts.assigned = !StringAt(document, "spec", "nodeName").empty();
  facts.deletion_cost = ReadDeletionCost(StringAt(document, "metadata", "annotations", kDeletionCostAnnotation));
  for (const Json& status : api::ListAt(document, "status", "containerStatuses"))
    facts.restarts = std::max(facts.restarts, Restarts(status));
  for (const Json& status : api::ListAt(document, "status", "initContainerStatuses"))
    if (Restarts(status) > facts.sidecar_restarts && IsSidecar(document, StringAt(status, "name")))
      facts.sidecar_restarts = Restarts(status);
  return facts;
}

}  // namespace terrarium::controllers::replicaset
