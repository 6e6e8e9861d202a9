#include "controllers/replicaset/internal/pod_facts.h"

#include <charconv>
#include <string_view>

#include "api/json_access.h"

namespace terrarium::controllers::replicaset {
namespace {

using api::Json;
using api::StringAt;

constexpr std::string_view kDeletionCostAnnotation = "controller.kubernetes.io/pod-deletion-cost";

// 0 for what the apiserver would refuse: "+10", "008", more than 32 bits.
std::int32_t ReadDeletionCost(std::string_view text) {
  const bool plain = text == "0" || (!text.empty() && (text[0] == '-' || (text[0] >= '1' && text[0] <= '9')));
  if (!plain) return 0;
  std::int32_t cost = 0;
  const char* end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, cost);
  return error == std::errc() && rest == end ? cost : 0;
}

}  // namespace

PodFacts FactsOf(const api::Object& pod, const Json& document) {
  PodFacts facts;
  facts.phase = api::ParsePhase(api::PodPhase(pod));
  const bool terminal = api::IsTerminal(facts.phase);
  facts.active = !pod.header().deleting && !terminal;
  facts.terminating = pod.header().deleting && !terminal;
  const api::PodReadiness readiness = api::ReadinessOf(document);
  facts.ready = readiness.ready;
  facts.ready_since = readiness.since.value_or(kNoTime);
  facts.created = api::ParseTime(StringAt(document, "metadata", "creationTimestamp")).value_or(kNoTime);
  facts.assigned = !api::PodNodeName(pod).empty();
  facts.deletion_cost =
      ReadDeletionCost(StringAt(document, "metadata", "annotations", kDeletionCostAnnotation));
  const api::PodRestarts restarts = api::RestartsOf(document);
  facts.restarts = restarts.most;
  facts.sidecar_restarts = restarts.most_sidecar;
  return facts;
}

}  // namespace terrarium::controllers::replicaset
