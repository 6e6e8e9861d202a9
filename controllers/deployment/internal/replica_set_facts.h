#pragma once

// The facts that the Deployment controller reads from a ReplicaSet. They are parsed once for each version of
// the ReplicaSet, so that a sync of a Deployment with a long history does not parse all of it.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "controllers/deployment/internal/pod_counts.h"
#include "controllers/deployment/internal/replica_sets.h"

namespace terrarium::controllers::deployment {

struct ReplicaSetFacts {
  api::ObjectPtr object;
  ReplicaSetSize size;
  std::int64_t ready = 0;
  // status.terminatingReplicas. Where it is absent, size.terminating is 0 unless CountedIn() sets it.
  std::optional<std::int64_t> terminating;
  bool observed = false;         // the ReplicaSet controller has written its status at least once
  bool has_stale_scale = false;  // replicaset-replicas-before-scale is malformed, or left on an empty set
  std::optional<std::int64_t> revision;  // of the rollout; 0 when absent, nullopt when malformed
  std::int64_t min_ready_seconds = 0;
  std::uint64_t template_digest = 0;
  api::Json failure;  // its ReplicaFailure condition, or null
  api::Json picker;   // its downscalePodPicker, or null

  const std::string& name() const { return object->header().name; }
  const std::string& uid() const { return object->header().uid; }
};
using FactsPtr = std::shared_ptr<const ReplicaSetFacts>;

ReplicaSetFacts FactsOf(const api::ObjectPtr& replica_set);
// The facts, completed with the counted pods. The count replaces terminatingReplicas where the ReplicaSet
// does not report it: the gate is off in the apiserver, which drops the field, or the ReplicaSet controller
// has not written it yet. The count and the ReplicaSet may be of different moments: live pods beyond both
// spec.replicas and status.replicas count as terminating.
FactsPtr CountedIn(const ReplicaSetFacts& facts, const PodCounts::Counts& pods);
// The old ReplicaSets (all but the one at `new_index`) that exceed a history of `limit`, oldest revision
// first. A ReplicaSet that has pods, or whose status is not current, is never among them. With
// `keep_terminating` (TerminationComplete) terminating pods count as pods: deleting the ReplicaSet would lose
// their count.
std::vector<FactsPtr> Outdated(std::span<const FactsPtr> sets, std::size_t new_index, std::int64_t limit,
                               bool keep_terminating);

// Caches the facts of the newest version of each ReplicaSet.
class FactsCache {
 public:
  FactsPtr Of(const api::ObjectPtr& replica_set);
  void Forget(const std::string& uid) { facts_.erase(uid); }

 private:
  std::map<std::string, FactsPtr> facts_;  // by uid
};

}  // namespace terrarium::controllers::deployment
