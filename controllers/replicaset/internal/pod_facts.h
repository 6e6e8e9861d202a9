#pragma once

// The fields of a pod that are needed to count pods and to choose among them, read once per version of the
// pod, so that a choice among thousands parses none.

#include <cstdint>

#include "api/base/clock.h"
#include "api/core_v1/pod.h"
#include "api/object.h"

namespace terrarium::controllers::replicaset {

// A missing time: later than all others.
inline constexpr api::Time kNoTime = api::Time::max();

struct PodFacts {
  bool active = false;
  // Being deleted, and its containers have not ended yet.
  bool terminating = false;
  bool ready = false;
  api::Time ready_since = kNoTime;
  api::Time created = kNoTime;

  // The rest only matters for the order of deletion.
  bool assigned = false;  // to a node
  api::Phase phase = api::Phase::kPending;
  std::int32_t deletion_cost = 0;
  std::int32_t restarts = 0;          // of the container with the most restarts
  std::int32_t sidecar_restarts = 0;  // the same of sidecars

  friend bool operator==(const PodFacts&, const PodFacts&) = default;
};

PodFacts FactsOf(const api::Object& pod, const api::Json& document);

}  // namespace terrarium::controllers::replicaset
