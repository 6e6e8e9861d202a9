#pragma once

// Which pods of a StatefulSet are created, deleted or waited for. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "controllers/statefulset/internal/pod_facts.h"
#include "controllers/statefulset/internal/set_spec.h"

namespace terrarium::controllers::statefulset {

// One ordinal of the set.
struct Replica {
  int ordinal = 0;
  StatefulPodPtr pod;  // nullptr: to be created
};

// A sync lists at most this many ordinals more than the set has pods: spec.replicas may be any number.
inline constexpr std::size_t kOrdinalsAhead = 10'000;

struct SetPods {
  std::vector<Replica> replicas;          // one for each ordinal, in order
  bool complete = true;                   // false: of the first ordinals; pods are missing among them
  std::vector<StatefulPodPtr> condemned;  // outside of the ordinals, highest first
  int unavailable = 0;                    // of both, missing pods included
  // The lowest ordinal without an available pod; a condemned one only when all replicas are available.
  std::optional<int> first_unavailable;
};

// Pods without an ordinal are left out.
SetPods SortPods(std::string_view set, const SetSpec& spec, const std::vector<StatefulPodPtr>& pods,
                 api::Time now);

// Whether a missing pod is created from the current revision instead of the update revision.
// `current_replicas` is that of the stored status.
bool UsesCurrentRevision(const SetSpec& spec, int ordinal, int current_replicas);

// What to do with one replica.
struct ReplicaStep {
  enum class Action {
    kCreate,
    kReplaceEnded,  // delete it; the next sync creates another one when it is gone
    kAwait,
    kKeep,  // only restore its identity
  };
  Action action = Action::kKeep;
  bool restores_claims = false;    // of a pending pod, before the action
  std::string_view awaiting = {};  // for kAwait
};
ReplicaStep NextStep(const SetSpec& spec, const Replica& replica, api::Time now);
// Whether no later ordinal is processed in this sync.
bool EndsSync(const SetSpec& spec, const ReplicaStep& step);

// What to do with a pod outside of the ordinals.
enum class CondemnedStep { kDelete, kAwait, kSkip };
CondemnedStep NextCondemnedStep(const SetSpec& spec, const PodFacts& pod, bool is_first_unavailable,
                                api::Time now);

// The number of replicas without an available pod that stays.
int CountUnavailable(const SetSpec& spec, const std::vector<Replica>& replicas, api::Time now);
// The replicas whose pods a rolling update deletes now, highest ordinal first. REQUIRES: the strategy is not
// OnDelete.
std::vector<const Replica*> PodsToUpdate(const SetSpec& spec, const std::vector<Replica>& replicas,
                                         std::string_view update_revision, api::Time now);

}  // namespace terrarium::controllers::statefulset
