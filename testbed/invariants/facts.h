#pragma once

// What the rules want to know of one object at one revision. Read once for all rules.

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
  std::string owner;         // uid of its controller
  bool live = false;         // neither deleted nor ended
  bool terminating = false;  // deleted and not ended
  bool ready = false;
  api::Time ready_since{};
};

// Counts of pods as a status tells them; nullopt where it does not.
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
  api::LabelSelector template_labels;  // as a selector: what makes a pod fully labelled
  ReportedCounts status;
};

struct DeploymentFacts {
  HeaderPtr header;
  std::int64_t generation = 1;
  std::int64_t observed_generation = 0;
  std::int64_t replicas = 0;
  std::int64_t surge = 0;               // maxSurge as a number of pods; 0 under Recreate
  bool waits_for_termination = false;  // podReplacementPolicy is TerminationComplete
  api::LabelSelector selector;
  ReportedCounts status;
};

using PodPtr = std::shared_ptr<const PodFacts>;
using ReplicaSetPtr = std::shared_ptr<const ReplicaSetFacts>;
using DeploymentPtr = std::shared_ptr<const DeploymentFacts>;

// nullptr for a pod without a controller, which no rule counts.
PodPtr ReadPod(const api::ObjectPtr& pod);
// `resource`: "replicasets" or "replicationcontrollers".
ReplicaSetPtr ReadReplicaSet(const std::string& resource, const api::ObjectPtr& object);
DeploymentPtr ReadDeployment(const api::ObjectPtr& object);

// How violations speak of an object: "replicasets default/web".
ObjectRef RefOf(const std::string& resource, const api::ObjectHeader& header);
std::string NameOf(const std::string& resource, const api::ObjectHeader& header);

}  // namespace terrarium::testbed::invariants
