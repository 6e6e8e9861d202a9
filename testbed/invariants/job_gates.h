#pragma once

#include "testbed/invariants/facts.h"

namespace terrarium::testbed::invariants {

// Gates of the job-controller that change what is expected of it.
struct JobGates {
  bool replacement_policy = true;  // JobPodReplacementPolicy
  bool managed_by = true;          // JobManagedBy

  // Somebody else looks after the Job.
  bool IsForeign(const JobFacts& job) const {
    return managed_by && !job.managed_by.empty() && job.managed_by != "kubernetes.io/job-controller";
  }
  // A pod that terminates holds its place.
  bool WaitsForTermination(const JobFacts& job) const {
    return job.has_failure_policy || (replacement_policy && job.replaces_only_failed);
  }
  // A Job is over only when no pod terminates any more.
  bool EndsAfterItsPods() const { return replacement_policy || managed_by; }
};

}  // namespace terrarium::testbed::invariants
