#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/base/clock.h"
#include "api/json.h"
#include "controllers/node_lifecycle/internal/node_facts.h"

namespace terrarium::controllers {

inline constexpr api::Duration kMonitorGracePeriod = std::chrono::seconds(50);
inline constexpr api::Duration kRenewPeriod = std::chrono::seconds(10);  // of the kubelets' Leases
inline constexpr api::Duration kStartupGracePeriod = std::chrono::seconds(60);

// When a node last showed a sign of life, by the controller's own clock. The times that a node writes may be
// wrong, but a new value is a sign of life.
class NodeHealth {
 public:
  // Records the node's current state. `lease_revision` is the revision of its Lease, 0 without one. Only the
  // node writes its Lease, so a new revision is a renewal, and no Lease has to be parsed.
  void Observe(const NodeFacts& node, std::int64_t lease_revision, api::Time now);
  // REQUIRES: Observe() has been called.
  bool Silent(api::Time now) const;
  // A healthy node is never late when the controller checks it every 5 s. REQUIRES: as Silent().
  bool IsLate(api::Time now) const { return now > last_seen_ + kRenewPeriod; }
  // Does not count a time in which the node had no occasion to report.
  void LeaveOut(api::Duration time) { last_seen_ += time; }
  // Restarts the grace period: no node could report before `now`.
  void RestartGracePeriod(api::Time now) { last_seen_ = now; }

 private:
  bool observed_ = false;
  Ready ready_ = Ready::kNone;
  std::string heartbeat_;
  std::int64_t lease_revision_ = 0;
  api::Time last_seen_{};
};

// The node's document with Ready and the pressure conditions set to Unknown, for a node that stopped
// reporting. nullopt when Ready is Unknown already.
std::optional<api::Json> SilentNode(const api::Json& node, api::Time now);

}  // namespace terrarium::controllers
