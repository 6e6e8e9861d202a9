#pragma once

// The facts of one object at one revision that the rules need. Parsed once for all rules.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "api/base/clock.h"
#include "api/object.h"
#include "api/selector/label_selector.h"
#include "testbed/invariants/violation.h"

namespace terrarium::testbed::invariants {

using HeaderPtr = std::shared_ptr<const api::ObjectHeader>;

struct PodFacts {
  HeaderPtr header;
  std::string owner;                       // uid of its controller
  bool of_job = false;                     // its controller is a Job
  bool live = false;                       // neither deleted nor ended
  bool terminating = false;                // deleted and not ended
  bool succeeded = false;                  // has the phase Succeeded
  bool tracked = false;                    // has the finalizer of Jobs
  std::optional<std::int64_t> index = {};  // of an indexed Job
  std::string daemon_node = {};            // the node that a pod of a DaemonSet is for
  bool ready = false;
  api::Time ready_since{};
};

// Pod counts in a status; nullopt where the field is absent.
struct ReportedCounts {
  std::int64_t replicas = 0;
  std::int64_t fully_labeled = 0;
  std::int64_t updated = 0;
  std::int64_t ready = 0;
  std::int64_t available = 0;
  std::optional<std::int64_t> terminating = {};
  friend bool operator==(const ReportedCounts&, const ReportedCounts&) = default;
};

// A ReplicaSet or a ReplicationController.
struct ReplicaSetFacts {
  std::string resource = "replicasets";
  HeaderPtr header;
  std::string owner;  // uid of its Deployment; empty: it has none
  std::int64_t generation = 1;
  std::int64_t observed_generation = 0;
  std::int64_t replicas = 0;  // spec.replicas
  std::int64_t min_ready_seconds = 0;
  api::LabelSelector selector;
  api::LabelSelector template_labels;  // as a selector: matches fully labeled pods
  ReportedCounts status;
};

struct DeploymentFacts {
  HeaderPtr header;
  std::int64_t generation = 1;
  std::int64_t observed_generation = 0;
  std::int64_t replicas = 0;
  std::int64_t surge = 0;              // maxSurge as a number of pods; 0 under Recreate
  bool waits_for_termination = false;  // podReplacementPolicy is TerminationComplete
  api::LabelSelector selector;
  ReportedCounts status;
};

// The pod counts in the status of a Job.
struct JobCounts {
  std::int64_t active = 0;
  std::int64_t ready = 0;
  std::optional<std::int64_t> terminating = {};
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  // The number of uids in uncountedTerminatedPods.
  std::int64_t uncounted_succeeded = 0;
  std::int64_t uncounted_failed = 0;
  friend bool operator==(const JobCounts&, const JobCounts&) = default;

  std::int64_t Succeeded() const { return succeeded + uncounted_succeeded; }
  std::int64_t Ended() const { return Succeeded() + failed + uncounted_failed; }
};

struct JobFacts {
  HeaderPtr header;
  bool indexed = false;
  bool replaces_only_failed = false;  // podReplacementPolicy is Failed
  bool has_failure_policy = false;
  std::string managed_by = {};
  bool finished = false;  // Complete or Failed
  api::LabelSelector selector;
  JobCounts status;
};

struct DaemonSetFacts {
  HeaderPtr header;
  std::int64_t generation = 1;
  std::int64_t observed_generation = 0;
  bool surges = false;  // a rolling update may run two pods on a node
  api::LabelSelector selector;
};

struct StatefulSetFacts {
  HeaderPtr header;
  bool ordered = true;     // podManagementPolicy is OrderedReady
  std::int64_t start = 0;  // its first ordinal
};

using PodPtr = std::shared_ptr<const PodFacts>;
using ReplicaSetPtr = std::shared_ptr<const ReplicaSetFacts>;
using DeploymentPtr = std::shared_ptr<const DeploymentFacts>;
using JobPtr = std::shared_ptr<const JobFacts>;
using DaemonSetPtr = std::shared_ptr<const DaemonSetFacts>;
using StatefulSetPtr = std::shared_ptr<const StatefulSetFacts>;

// nullptr for a pod without a controller, which no rule counts.
PodPtr ReadPod(const api::ObjectPtr& pod);
// `resource`: "replicasets" or "replicationcontrollers".
ReplicaSetPtr ReadReplicaSet(const std::string& resource, const api::ObjectPtr& object);
DeploymentPtr ReadDeployment(const api::ObjectPtr& object);
JobPtr ReadJob(const api::ObjectPtr& object);
DaemonSetPtr ReadDaemonSet(const api::ObjectPtr& object);
StatefulSetPtr ReadStatefulSet(const api::ObjectPtr& object);

// How violations name an object: "replicasets default/web".
ObjectRef RefOf(const std::string& resource, const api::ObjectHeader& header);
std::string NameOf(const std::string& resource, const api::ObjectHeader& header);

}  // namespace terrarium::testbed::invariants
