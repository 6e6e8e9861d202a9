#include "controllers/daemonset/internal/placement.h"

#include <algorithm>

#include "api/core_v1/taint.h"
#include "api/json_access.h"
#include "controllers/daemonset/internal/daemon_pod.h"

namespace terrarium::controllers::daemonset {

using api::Json;

Placement::Placement(const Json& pod_template) {
  const Json& spec = api::ObjectAt(pod_template, "spec");
  node_name_ = api::StringAt(spec, "nodeName");
  affinity_ = api::NodeAffinityOf(spec);
  tolerations_ = DaemonTolerations(spec);
}

bool Placement::Tolerated(const Json& taint) const {
  return std::any_of(tolerations_.begin(), tolerations_.end(),
                     [&](const Json& toleration) { return api::Tolerates(toleration, taint); });
}

NodeFit Placement::Fit(const api::ObjectHeader& node, const Json& taints) const {
  if (!node_name_.empty() && node_name_ != node.name) return {};
  if (!affinity_.Matches(node)) return {};
  NodeFit fit{.should_run = true, .may_stay = true};
  for (const Json& taint : taints) {
    const std::string_view effect = api::StringAt(taint, "effect");
    const bool evicts = effect == api::taint::kNoExecute;
    if ((!evicts && effect != api::taint::kNoSchedule) || Tolerated(taint)) continue;
    fit.should_run = false;
    if (evicts) fit.may_stay = false;
  }
  return fit;
}

}  // namespace terrarium::controllers::daemonset
