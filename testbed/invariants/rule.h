#pragma once

// What every invariant is: a small class that is told of every change, in the order of the revisions, and keeps a model
// of its own, so that what a change costs does not grow with the number of objects.

#include <cstdint>
#include <string_view>

#include "api/base/clock.h"
#include "testbed/invariants/facts.h"

namespace terrarium::testbed::invariants {

// The component whose controllers the rules watch over.
inline constexpr std::string_view kControllerManager = "controller-manager";

struct Moment {
  std::int64_t revision = 0;
  api::Time time{};
  std::string_view writer = {};  // the component that wrote it; empty: somebody else, whom no rule binds
  bool created = false;          // the object was made by this write

  bool ByControllers() const { return writer == kControllerManager; }
};

// What is known of the counts of terminating pods in statuses.
enum class TerminatingCounts {
  kAbsent,   // nobody tells them
  kTold,
  kUnknown,  // it depends on what was stored before: they are not looked at
};

class Rule {
 public:
  virtual ~Rule() = default;
  // `before` is nullptr for an object that is new or came under a controller just now, `after` for one that is gone or
  // has no controller any more. A pod that changes hands is told of once, with both.
  virtual void OnPod(const Moment&, const PodPtr& before, const PodPtr& after) = 0;
  virtual void OnReplicaSet(const Moment&, const ReplicaSetPtr& before, const ReplicaSetPtr& after) = 0;
  virtual void OnDeployment(const Moment&, const DeploymentPtr& before, const DeploymentPtr& after) = 0;
  virtual void OnJob(const Moment&, const JobPtr& /*before*/, const JobPtr& /*after*/) {}
  // The plane has nothing left to do but housekeeping.
  virtual void OnIdle(const Moment&) {}
  // Controllers may have seen what the rule has not: the next status that they write is not judged by what it knows.
  // `rest`: nor is what there is now, when the plane is idle.
  virtual void Excuse(bool rest) { (void)rest; }
};

}  // namespace terrarium::testbed::invariants
