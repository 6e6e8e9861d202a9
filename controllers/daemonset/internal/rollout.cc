#include "controllers/daemonset/internal/rollout.h"

#include <algorithm>

#include "api/int_or_percent.h"
#include "api/json_access.h"

namespace terrarium::controllers::daemonset {
namespace {

using api::Json;
using NodeSet = DaemonNodes::NodeSet;

int Resolve(const Json& daemon_set, std::string_view field, int desired) {
  const Json& strategy = api::ObjectAt(daemon_set, "spec", "updateStrategy");
  if (api::StringAt(strategy, "type") != "RollingUpdate") return 0;
  return static_cast<int>(
      api::ResolveIntOrPercent(api::Find(strategy, "rollingUpdate", field), desired, api::Rounding::kUp));
}

// Calls `add` for the first nodes of a set while `out` has room.
template <typename Out, typename Add>
void Take(const NodeSet& nodes, int count, std::size_t most, Out& out, Add add) {
  for (const DaemonNodes::Node* node : nodes) {
    if (count-- <= 0 || out.size() >= most) return;
    add(*node);
  }
}

}  // namespace

RolloutLimits LimitsOf(const Json& daemon_set, int desired) {
  RolloutLimits limits{.surge = Resolve(daemon_set, "maxSurge", desired),
                       .unavailable = Resolve(daemon_set, "maxUnavailable", desired)};
  if (desired > 0 && limits.surge == 0 && limits.unavailable == 0) limits.unavailable = 1;
  return limits;
}

bool AllowsSurge(const Json& daemon_set) { return Resolve(daemon_set, "maxSurge", 1) > 0; }

PodChanges NextRolloutChanges(const DaemonNodes& nodes, const RolloutLimits& limits, std::size_t most) {
  PodChanges changes;
  auto remove = [&](const DaemonNodes::Node& node) { changes.remove.push_back(node.plan.old); };
  auto create = [&](const DaemonNodes::Node& node) { changes.create.push_back(node.name); };
  const DaemonCounts& counts = nodes.counts();
  const NodeSet& replace = nodes.At(RolloutStep::kReplace);
  const NodeSet& candidates = nodes.At(RolloutStep::kCandidate);
  const int all = static_cast<int>(most);
  if (!nodes.rules().surge) {
    const int unavailable = counts.waiting + static_cast<int>(replace.size());
    Take(replace, all, most, changes.remove, remove);
    Take(candidates, limits.unavailable - unavailable, most, changes.remove, remove);
    return changes;
  }
  Take(nodes.At(RolloutStep::kRetire), all, most, changes.remove, remove);
  // With surge the owner expects no loss of availability: a pod on a node that no longer gets one goes when
  // the other nodes have enough.
  Take(nodes.At(RolloutStep::kUnfit), counts.serving - counts.desired, most, changes.remove, remove);
  Take(replace, all, most, changes.create, create);
  Take(candidates, limits.surge - counts.waiting, most, changes.create, create);
  return changes;
}

}  // namespace terrarium::controllers::daemonset
