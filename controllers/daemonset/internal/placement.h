#pragma once

// On which nodes a DaemonSet runs. Pure.

#include <string>

#include "api/core_v1/node_affinity.h"
#include "api/json.h"
#include "api/object.h"

namespace terrarium::controllers::daemonset {

// Whether a node gets a pod, and whether a pod that runs there may stay. A taint NoSchedule that the pod does
// not tolerate keeps new pods away and lets existing ones stay.
struct NodeFit {
  bool should_run = false;
  bool may_stay = false;

  friend bool operator==(const NodeFit&, const NodeFit&) = default;
};

class Placement {
 public:
  Placement() = default;
  explicit Placement(const api::Json& pod_template);

  // `taints`: the node's spec.taints.
  NodeFit Fit(const api::ObjectHeader& node, const api::Json& taints) const;

 private:
  bool Tolerated(const api::Json& taint) const;

  std::string node_name_;  // empty: any
  api::NodeAffinity affinity_;
  api::Json tolerations_;
};

}  // namespace terrarium::controllers::daemonset
