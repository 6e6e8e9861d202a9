#include "controllers/node_lifecycle/internal/node_health.h"

#include <utility>

#include "api/core_v1/pod.h"
#include "api/json_access.h"

namespace terrarium::controllers {

using api::Json;
using api::StringAt;
using api::Time;

void NodeHealth::Observe(const NodeFacts& node, std::int64_t lease_revision, Time now) {
  if (node.ready == Ready::kNone) {
    // It never posted a status: all that is known is when it was made.
    if (!observed_) last_seen_ = node.created;
  } else if (!observed_ || ready_ == Ready::kNone || heartbeat_ != node.heartbeat) {
    last_seen_ = now;
  }
  observed_ = true;
  ready_ = node.ready;
  heartbeat_ = node.heartbeat;
  if (lease_revision > lease_revision_) {
    lease_revision_ = lease_revision;
    last_seen_ = now;
  }
}

bool NodeHealth::Silent(Time now) const {
  return now > last_seen_ + (ready_ == Ready::kNone ? kStartupGracePeriod : kMonitorGracePeriod);
}

std::optional<Json> SilentNode(const Json& node, Time now) {
  const Json* ready = api::FindCondition(node, "Ready");
  if (ready != nullptr && StringAt(*ready, "status") == "Unknown") return std::nullopt;
  Json silent = node;
  Json& conditions = silent["status"]["conditions"];
  if (conditions.is_null()) conditions = Json::array();
  for (const char* type : {"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"}) {
    Json* found = nullptr;
    for (Json& condition : conditions)
      if (StringAt(condition, "type") == type) found = &condition;
    if (found == nullptr) {
      conditions.push_back(Json{{"type", type},
                                {"status", "Unknown"},
                                {"reason", "NodeStatusNeverUpdated"},
                                {"message", "Kubelet never posted node status."},
                                {"lastHeartbeatTime", StringAt(node, "metadata", "creationTimestamp")},
                                {"lastTransitionTime", api::FormatTime(now)}});
    } else if (StringAt(*found, "status") != "Unknown") {
      (*found)["status"] = "Unknown";
      (*found)["reason"] = "NodeStatusUnknown";
      (*found)["message"] = "Kubelet stopped posting node status.";
      (*found)["lastTransitionTime"] = api::FormatTime(now);
    }
  }
  return silent;
}

}  // namespace terrarium::controllers
