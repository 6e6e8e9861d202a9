#pragma once

// The order in which surplus pods are deleted. Mirrors ActivePodsWithRanks of
// pkg/controller/controller_utils.go, 1.36. Pure.

#include <cstddef>
#include <vector>

#include "api/base/clock.h"
#include "api/object.h"
#include "controllers/replicaset/internal/pod_facts.h"

namespace terrarium::controllers::replicaset {

struct RankedPod {
  const api::Object* pod = nullptr;
  const PodFacts* facts = nullptr;
  // Orders pods that are equal up to their deletion cost: the number of related pods on its node, higher
  // first, or the rank of a downscalePodPicker (rules.picked), lower first.
  int rank = 0;
};

struct RankingRules {
  api::Time now{};
  bool deletion_cost = true;  // gate PodDeletionCost
  bool logarithmic = true;    // gate LogarithmicScaleDown
  bool picked = false;
};

// Moves the `count` pods to delete to the front, in order; the rest follows in any order:
//   not on a node; Pending, then Unknown; not ready; lower deletion cost; rank; ready for a shorter time;
//   more restarts of a container, then of a sidecar; created later.
// With `logarithmic`, times whose distances from now have the same integer log2 are equal, and the uid
// decides.
void ChooseForDeletion(std::vector<RankedPod>& pods, std::size_t count, const RankingRules& rules);

}  // namespace terrarium::controllers::replicaset
