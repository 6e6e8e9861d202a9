#pragma once

// What counting pods and choosing among them requires of each pod, read once for every state of it: choosing
// a few among thousands parses none.

#include <cstdint>

#include "api/base/clock.h"
#include "api/object.h"

namespace terrarium::controllers::replicaset {

// A time that a pod does not say: later than all others.
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
  std::int8_t phase = 0;  // Pending 0, Unknown 1, Running 2
  std::int32_t deletion_cost = 0;
  std::int32_t restarts = 0;          // of the container that restarted most
  std::int32_t sidecar_restarts = 0;  // the same of the init containers that run on

  friend bool operator==(const PodFacts&, const PodFacts&) = default;
};

PodFacts FactsOf(const api::Object& pod, const api::Json& document);

}  // namespace terrarium::controllers::replicaset
