#include "controllers/deployment/internal/replica_set_facts.h"

#include <algorithm>
#include <utility>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "controllers/deployment/internal/annotations.h"
#include "controllers/deployment/internal/pod_template.h"

namespace terrarium::controllers::deployment {
namespace {

using api::IntAt;
using api::Json;

// By revision; by age where the revision is equal or malformed.
bool EarlierRevision(const FactsPtr& a, const FactsPtr& b) {
  if (!a->revision || !b->revision || *a->revision == *b->revision) return IsOlder(a->size, b->size);
  return *a->revision < *b->revision;
}

bool HasPods(const ReplicaSetFacts& set, bool keep_terminating) {
  return set.size.replicas != 0 || set.size.status_replicas != 0 ||
         (keep_terminating && set.size.terminating != 0);
}

}  // namespace

ReplicaSetFacts FactsOf(const api::ObjectPtr& replica_set) {
  std::shared_ptr<const Json> document = replica_set->Document();
  const Json& spec = api::ObjectAt(*document, "spec");
  const Json& status = api::ObjectAt(*document, "status");
  const Json& annotations = api::ObjectAt(*document, "metadata", "annotations");
  ReplicaSetFacts facts;
  facts.object = replica_set;
  facts.size.name = replica_set->header().name;
  facts.size.created =
      api::ParseTime(api::StringAt(*document, "metadata", "creationTimestamp")).value_or(api::Time{});
  facts.size.replicas = IntAt(spec, 1, "replicas");
  facts.size.status_replicas = IntAt(status, 0, "replicas");
  facts.size.available = IntAt(status, 0, "availableReplicas");
  facts.size.terminating = IntAt(status, 0, "terminatingReplicas");
  facts.size.desired = ReplicasAt(annotations, kDesiredReplicas);
  facts.size.max = ReplicasAt(annotations, kMaxReplicas);
  facts.size.before_scale = ReplicasAt(annotations, kReplicasBeforeScale);
  const bool in_scale = facts.size.before_scale && facts.size.replicas > 0;
  facts.has_stale_scale = !in_scale && api::Find(annotations, kReplicasBeforeScale) != nullptr;
  facts.ready = IntAt(status, 0, "readyReplicas");
  if (api::Find(status, "terminatingReplicas") != nullptr) facts.terminating = facts.size.terminating;
  const std::int64_t observed = IntAt(status, 0, "observedGeneration");
  facts.observed = observed != 0;
  facts.size.status_current = observed >= IntAt(*document, 0, "metadata", "generation");
  facts.revision = RevisionOf(annotations);
  facts.min_ready_seconds = IntAt(spec, 0, "minReadySeconds");
  facts.template_digest = TemplateDigest(api::ObjectAt(spec, "template"));
  if (const Json* failure = api::FindCondition(*document, "ReplicaFailure")) facts.failure = *failure;
  if (const Json* picker = api::Find(spec, "downscalePodPicker")) facts.picker = *picker;
  return facts;
}

FactsPtr CountedIn(const ReplicaSetFacts& facts, const PodCounts::Counts& pods) {
  auto counted = std::make_shared<ReplicaSetFacts>(facts);
  counted->size.seen_live = pods.live;
  counted->size.seen_terminating = pods.terminating;
  if (facts.terminating) return counted;
  const std::int64_t known = std::max(facts.size.replicas, facts.size.status_replicas);
  counted->size.terminating = pods.terminating + std::max<std::int64_t>(pods.live - known, 0);
  return counted;
}

std::vector<FactsPtr> Outdated(std::span<const FactsPtr> sets, std::size_t new_index, std::int64_t limit,
                               bool keep_terminating) {
  std::vector<FactsPtr> old;
  for (std::size_t i = 0; i < sets.size(); ++i)
    if (i != new_index && !sets[i]->object->header().deleting) old.push_back(sets[i]);
  const std::int64_t surplus = static_cast<std::int64_t>(old.size()) - limit;
  if (surplus <= 0) return {};
  std::sort(old.begin(), old.end(), EarlierRevision);
  // A ReplicaSet that has to stay still counts: no younger one is deleted in its place.
  old.resize(static_cast<std::size_t>(surplus));
  std::erase_if(
      old, [&](const FactsPtr& set) { return HasPods(*set, keep_terminating) || !set->size.status_current; });
  return old;
}

FactsPtr FactsCache::Of(const api::ObjectPtr& replica_set) {
  FactsPtr& facts = facts_[replica_set->header().uid];
  if (facts == nullptr || facts->object->revision() != replica_set->revision())
    facts = std::make_shared<const ReplicaSetFacts>(FactsOf(replica_set));
  return facts;
}

}  // namespace terrarium::controllers::deployment
