#pragma once

// One look at a Deployment: what is decided from, and what its status will say in the end. Pure.

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
#include "controllers/deployment/internal/replica_set_facts.h"
#include "controllers/deployment/internal/rollout.h"

namespace terrarium::controllers::deployment {

// spec.podReplacementPolicy; the mixed behaviour is that of a Deployment without one, or with its gates off.
enum class ReplacementPolicy { kMixed, kTerminationStarted, kTerminationComplete };
ReplacementPolicy PolicyOf(const api::Json& spec, const api::FeatureGates& gates);
DeploymentSize SizeOf(const api::Json& deployment, ReplacementPolicy policy);

struct Round {
  api::ObjectPtr deployment;
  std::shared_ptr<const api::Json> document;  // of the Deployment
  api::ObjectName name;
  ReplacementPolicy policy = ReplacementPolicy::kMixed;
  DeploymentSize size;
  std::vector<FactsPtr> sets;            // oldest first
  std::vector<ReplicaSetSize> sizes;     // of the same sets
  std::size_t new_index = kNotThereYet;  // the oldest one of the current template
  std::int64_t seen = 0;                 // the revision that all this is of
  bool counts_terminating = false;       // the gate of status.terminatingReplicas is on
  bool policy_gates = false;             // both gates of the policy are on, whatever it is
  bool hands_picker = false;             // the gate of downscalePodPicker is on

  // What the round adds to the status.
  api::Json conditions = api::Json::array();
  std::optional<std::int64_t> collision_count;
  std::string revision;  // of the rollout; empty: as it is

  const std::string& uid() const { return deployment->header().uid; }
  const api::Json& spec() const;
  const api::Json& annotations() const;
  std::int64_t generation() const;
  bool paused() const;
  std::optional<api::Duration> progress_deadline() const;
  std::optional<std::int64_t> history_limit() const;
  const ReplicaSetFacts* new_set() const { return new_index == kNotThereYet ? nullptr : sets[new_index].get(); }
  // One more than that of all old ReplicaSets.
  std::int64_t NextRevision() const;
  // Makes a ReplicaSet that has just been created one of the sets, the one of the current template.
  void AddNew(FactsPtr set);

  Counters CountNow() const;
  // "room for 3: 12 of 15 pods, 2 of them terminating".
  std::string RoomText() const;
  // The numbers behind a decision.
  api::Json Saw() const;
};
using RoundPtr = std::shared_ptr<Round>;

RoundPtr MakeRound(api::ObjectPtr deployment, std::vector<FactsPtr> sets, std::uint64_t template_digest,
                   const api::FeatureGates& gates);

// The ReplicaSet to be made for the current template. REQUIRES: there is none.
api::Json NewReplicaSet(const Round& round, std::int64_t replicas);
// What the ReplicaSet of the current template lacks beside its size, as a merge patch; null when it lacks nothing.
// REQUIRES: there is one.
api::Json NewSetPatch(const Round& round);
// What makes the downscalePodPicker of a ReplicaSet the Deployment's, or takes it away, as a merge patch; null when it
// is the same or none of the Deployment's business: the gate is off, or the ReplicaSet is on its way out.
api::Json PickerPatch(const Round& round, const ReplicaSetFacts& set);

}  // namespace terrarium::controllers::deployment
