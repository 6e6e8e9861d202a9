#pragma once

// The results of controllers in a form that can be compared: random or computed names (hashes, suffixes,
// uids) are replaced, and times are left out after a check that they exist.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::scenarios {

class Situation {
 public:
  Situation() : bed_({.nodes = 1}) {}

  testbed::Testbed& bed() { return bed_; }
  void Create(std::string_view resource, const std::string& name, const api::Json& spec);
  void PatchSpec(std::string_view resource, const std::string& name, const api::Json& spec);
  // Runs until the cluster is idle.
  void RunToTheEnd(api::Duration limit = std::chrono::hours(2));

  // The parts of an object that are neither the user's nor random: generation, labels, annotations, owners
  // (which must exist) and the whole status with its conditions as "Available=True Reason: message".
  api::Json Of(std::string_view resource, const std::string& name);
  // The same for all ReplicaSets or pods, in the order of their creation.
  std::vector<api::Json> All(std::string_view resource);
  // "Deployment Normal ScalingReplicaSet: Scaled up replica set d-HASH1 from 0 to 2 (deployment-controller)",
  // of the controllers of Deployments, ReplicaSets and budgets.
  std::set<std::string> Events();

 private:
  api::Json Shown(const api::Object& object);
  // Hashes become HASH1, HASH2, ... in the order in which their ReplicaSets were created.
  std::string Named(std::string text);

  testbed::Testbed bed_;
};

}  // namespace terrarium::scenarios
