#include "controllers/statefulset/internal/pod_facts.h"

#include "api/json_access.h"
#include "controllers/history/revision.h"
#include "controllers/statefulset/internal/identity.h"

namespace terrarium::controllers::statefulset {

using api::Json;

bool PodFacts::Available(api::Duration min_ready, api::Time now) const {
  if (!ready) return false;
  return min_ready == api::Duration::zero() || (ready_since && *ready_since + min_ready <= now);
}

std::optional<api::Time> PodFacts::AvailableAt(api::Duration min_ready, api::Time now) const {
  if (!ready || !ready_since || Available(min_ready, now)) return std::nullopt;
  return *ready_since + min_ready;
}

PodFacts FactsOf(const api::Object& pod) {
  std::shared_ptr<const Json> document = pod.Document();
  const api::ObjectHeader& header = pod.header();
  PodFacts facts;
  facts.name = header.name;
  facts.uid = header.uid;
  if (const std::string* revision = api::FindLabel(header, history::kRevisionHashLabel))
    facts.revision = *revision;
  facts.phase = api::ParsePhase(api::PodPhase(pod));
  facts.deleting = header.deleting;
  const api::PodReadiness readiness = api::ReadinessOf(*document);
  facts.ready = readiness.ready;
  facts.ready_since = readiness.since;
  const std::string* label = api::FindLabel(header, kPodNameLabel);
  facts.has_name_label = label != nullptr && *label == header.name;
  for (const Json& volume : api::ListAt(*document, "spec", "volumes"))
    if (const Json* claim = api::Find(volume, "persistentVolumeClaim"))
      facts.claims[std::string(api::StringAt(volume, "name"))] = api::StringAt(*claim, "claimName");
  return facts;
}

}  // namespace terrarium::controllers::statefulset
