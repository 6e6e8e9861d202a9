#pragma once

// Which pods go first when there are too many. Mirrors ActivePodsWithRanks of
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
  // Decides among pods that are alike up to their deletion cost: the number of related pods on its node, of
  // which the greater one goes first, or what a downscalePodPicker made of it (rules.picked), of which the
  // lower one does.
  int rank = 0;
};

struct RankingRules {
  api::Time now{};
  bool deletion_cost = true;  // gate PodDeletionCost
  bool logarithmic = true;    // gate LogarithmicScaleDown
  bool picked = false;
};

// Brings the `count` pods that go first to the front, in their order; the rest follows in any:
//   not on a node; Pending, then Unknown; not ready; lower deletion cost; rank; ready for a shorter time;
//   more restarts of a container, then of a sidecar; created later.
// Logarithmically, times whose distances from now have the same whole log2 count as alike, and the uid
// decides.
void ChooseForDeletion(std::vector<RankedPod>& pods, std::size_t count, const RankingRules& rules);

}  // namespace terrarium::controllers::replicaset
