#pragma once

// One sync of a Deployment: the state that its decisions are based on, and the additions to its status. Pure.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/base/feature_gates.h"
#include "api/json.h"
#include "api/object.h"
#include "api/object_name.h"
#include "controllers/deployment/internal/progress.h"
#include "controllers/deployment/internal/proportional_scaling.h"
#include "controllers/deployment/internal/replica_set_facts.h"
#include "controllers/deployment/internal/rollout.h"

namespace terrarium::controllers::deployment {

// spec.podReplacementPolicy. kMixed is the behaviour without a policy, or with its gates off.
enum class ReplacementPolicy { kMixed, kTerminationStarted, kTerminationComplete };
ReplacementPolicy PolicyOf(const api::Json& spec, const api::FeatureGates& gates);
DeploymentSize SizeOf(const api::Json& deployment, ReplacementPolicy policy);

struct SyncState {
  api::ObjectPtr deployment;
  std::shared_ptr<const api::Json> document;  // of the Deployment
  api::ObjectName name;
  ReplacementPolicy policy = ReplacementPolicy::kMixed;
  DeploymentSize size;
  std::vector<FactsPtr> sets;            // oldest first
  std::vector<ReplicaSetSize> sizes;     // of the same sets
  std::size_t new_index = kNotThereYet;  // the oldest set of the current template
  std::int64_t seen = 0;                 // the ReplicaSet informer's revision of the state above
  bool counts_terminating = false;       // the gate of status.terminatingReplicas is on
  bool hands_picker = false;             // the gate of downscalePodPicker is on

  // Additions to the status.
  api::Json conditions = api::Json::array();
  std::optional<std::int64_t> collision_count;
  std::string revision;  // of the rollout; empty: unchanged

  const std::string& uid() const { return deployment->header().uid; }
  const api::Json& spec() const;
  const api::Json& annotations() const;
  std::int64_t generation() const;
  bool paused() const;
  std::optional<api::Duration> progress_deadline() const;
  std::optional<std::int64_t> history_limit() const;
  const ReplicaSetFacts* new_set() const {
    return new_index == kNotThereYet ? nullptr : sets[new_index].get();
  }
  // One more than the highest revision of the old ReplicaSets.
  std::int64_t NextRevision() const;
  // Adds a newly created ReplicaSet as the one of the current template.
  void AddNew(FactsPtr set);

  Counters CountNow() const;
  // "room for 3: 12 of 15 pods, 2 of them terminating".
  std::string RoomText() const;
  // The numbers that a decision is based on, for the why record.
  api::Json Saw() const;
};
using SyncStatePtr = std::shared_ptr<SyncState>;

SyncStatePtr MakeSyncState(api::ObjectPtr deployment, std::vector<FactsPtr> sets,
                           std::uint64_t template_digest, const api::FeatureGates& gates);

// The ReplicaSets with a stale replicaset-replicas-before-scale annotation. Only that annotation is to be
// removed.
std::vector<ScaledSet> StaleScales(const SyncState& sync);
// The ReplicaSet to create for the current template. REQUIRES: there is none.
api::Json NewReplicaSet(const SyncState& sync, std::int64_t replicas);
// A merge patch with everything but the size that the ReplicaSet of the current template lacks; null when it
// lacks nothing. REQUIRES: there is one.
api::Json NewSetPatch(const SyncState& sync);
// A merge patch that sets the ReplicaSet's downscalePodPicker to the Deployment's, or removes it. null when
// they are equal, when the gate is off, or when the ReplicaSet is being deleted.
api::Json PickerPatch(const SyncState& sync, const ReplicaSetFacts& set);

}  // namespace terrarium::controllers::deployment
