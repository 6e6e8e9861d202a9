#pragma once

// The interface of an invariant. A rule receives every change in the order of the revisions and keeps a model
// of its own, so the cost of a change does not grow with the number of objects.

#include <cstdint>
#include <string_view>

#include "api/base/clock.h"
#include "testbed/invariants/facts.h"

namespace terrarium::testbed::invariants {

// The component whose controllers the rules check.
inline constexpr std::string_view kControllerManager = "controller-manager";

struct Moment {
  std::int64_t revision = 0;
  api::Time time{};
  std::string_view writer = {};  // the component that wrote it; empty: another client, which no rule binds
  bool created = false;          // this write created the object

  bool ByControllers() const { return writer == kControllerManager; }
};

// Whether statuses contain counts of terminating pods.
enum class TerminatingCounts {
  kAbsent,  // no controller reports them
  kReported,
  kUnknown,  // depends on what was stored before: the rules do not check them
};

class Rule {
 public:
  virtual ~Rule() = default;
  // `before` is nullptr for a new object, and for a pod that had no controller before. `after` is nullptr for
  // a deleted object, and for a pod that no longer has a controller. A pod whose controller changes is one
  // call, with both.
  virtual void OnPod(const Moment&, const PodPtr& before, const PodPtr& after) = 0;
  virtual void OnReplicaSet(const Moment&, const ReplicaSetPtr& before, const ReplicaSetPtr& after) = 0;
  virtual void OnDeployment(const Moment&, const DeploymentPtr& before, const DeploymentPtr& after) = 0;
  virtual void OnJob(const Moment&, const JobPtr& /*before*/, const JobPtr& /*after*/) {}
  virtual void OnDaemonSet(const Moment&, const DaemonSetPtr& /*before*/, const DaemonSetPtr& /*after*/) {}
  virtual void OnStatefulSet(const Moment&, const StatefulSetPtr& /*before*/,
                             const StatefulSetPtr& /*after*/) {}
  // The control plane is idle: only background timers are left.
  virtual void OnIdle(const Moment&) {}
  // Controllers may have observed states that the rule has not: the rule does not judge the next status that
  // they write by its own model. `rest`: nor the current state, when the control plane is idle.
  virtual void Excuse(bool rest) { (void)rest; }
};

}  // namespace terrarium::testbed::invariants
