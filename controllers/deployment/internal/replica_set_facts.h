#pragma once

// What a Deployment needs to know of its ReplicaSets, read once for each state of each of them: a look at a Deployment
// with a long history must not parse all of it.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "controllers/deployment/internal/replica_sets.h"

namespace terrarium::controllers::deployment {

struct ReplicaSetFacts {
  api::ObjectPtr object;
  ReplicaSetSize size;
  std::int64_t ready = 0;
  std::optional<std::int64_t> terminating;  // as reported; size.terminating is 0 where it is absent
  bool observed = false;                    // its controller has seen it at all
  std::optional<std::int64_t> revision;     // of the rollout, 0 when it has none; nullopt: unreadable
  std::int64_t min_ready_seconds = 0;
  std::uint64_t template_digest = 0;
  api::Json failure;  // its ReplicaFailure condition, or null
  api::Json picker;   // its downscalePodPicker, or null

  const std::string& name() const { return object->header().name; }
  const std::string& uid() const { return object->header().uid; }
};
using FactsPtr = std::shared_ptr<const ReplicaSetFacts>;

ReplicaSetFacts FactsOf(const api::ObjectPtr& replica_set);
// Of the old ReplicaSets (all but the one at `new_index`) those that a history of `limit` has no room for, oldest
// revision first. One that has pods, or whose status is not up to date, is none of them; with `keep_terminating` a pod
// that is still going is a pod.
std::vector<FactsPtr> Outdated(std::span<const FactsPtr> sets, std::size_t new_index, std::int64_t limit,
                               bool keep_terminating);

// Remembers the facts of the newest state of each ReplicaSet.
class FactsCache {
 public:
  FactsPtr Of(const api::ObjectPtr& replica_set);
  void Forget(const std::string& uid) { facts_.erase(uid); }

 private:
  std::map<std::string, FactsPtr> facts_;  // by uid
};

}  // namespace terrarium::controllers::deployment
