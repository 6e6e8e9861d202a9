#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/base/clock.h"
#include "api/json.h"
#include "controllers/node_lifecycle/internal/node_facts.h"

namespace terrarium::controllers {

inline constexpr api::Duration kMonitorGracePeriod = std::chrono::seconds(50);
inline constexpr api::Duration kStartupGracePeriod = std::chrono::seconds(60);

// When a node was last heard of, by the controller's own clock: what a node writes as time may be wrong, but that it
// wrote something new is a sign of life.
class NodeHealth {
 public:
  // Takes in what the node shows now. `lease_revision` is that of its Lease, 0 without one: nobody but the node writes
  // it, so that a new one is a renewal, and no Lease has to be parsed.
  void Observe(const NodeFacts& node, std::int64_t lease_revision, api::Time now);
  // REQUIRES: Observe() has been called.
  bool Silent(api::Time now) const;
  // Nothing could be heard of anybody: the count begins anew.
  void HeardAt(api::Time now) { heard_ = now; }

 private:
  bool observed_ = false;
  Ready ready_ = Ready::kNone;
  std::string heartbeat_;
  std::int64_t lease_revision_ = 0;
  api::Time heard_{};
};

// The node's document with Ready and the pressures turned to Unknown, as of a node that fell silent. nullopt when Ready
// is Unknown already.
std::optional<api::Json> SilentNode(const api::Json& node, api::Time now);

}  // namespace terrarium::controllers
