#include "controllers/daemonset/internal/failed_pods.h"

#include <algorithm>

namespace terrarium::controllers::daemonset {

std::optional<api::Duration> FailedPods::Delay(const std::string& owner_uid, std::int64_t generation,
                                               const std::string& node, api::Time now) {
  std::map<std::string, Backoff>& nodes = owners_[owner_uid];
  auto known = nodes.find(node);
  const bool counts = known != nodes.end() && known->second.generation == generation &&
                      now - known->second.since <= 2 * kMost;
  if (!counts) {
    nodes[node] = {generation, kBase, now};
    return std::nullopt;
  }
  Backoff& backoff = known->second;
  if (now - backoff.since < backoff.delay) return backoff.delay;
  backoff.delay = std::min(2 * backoff.delay, kMost);
  backoff.since = now;
  return std::nullopt;
}

void FailedPods::Forget(const std::string& owner_uid) { owners_.erase(owner_uid); }

}  // namespace terrarium::controllers::daemonset
