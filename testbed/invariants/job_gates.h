#pragma once

#include "testbed/invariants/facts.h"

namespace terrarium::testbed::invariants {

// Gates of the job-controller that change its expected behavior.
struct JobGates {
  bool replacement_policy = true;  // JobPodReplacementPolicy
  bool managed_by = true;          // JobManagedBy

  // Another controller manages the Job.
  bool IsForeign(const JobFacts& job) const {
    return managed_by && !job.managed_by.empty() && job.managed_by != "kubernetes.io/job-controller";
  }
  // A terminating pod is not replaced before it has ended.
  bool WaitsForTermination(const JobFacts& job) const {
    return job.has_failure_policy || (replacement_policy && job.replaces_only_failed);
  }
  // A Job becomes Complete or Failed only when no pod is terminating.
  bool EndsAfterItsPods() const { return replacement_policy || managed_by; }
};

}  // namespace terrarium::testbed::invariants
