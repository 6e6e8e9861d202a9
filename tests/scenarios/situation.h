#pragma once

// What controllers leave behind, in a form in which it can be written down: names that are drawn or computed
// (hashes, suffixes, uids) are replaced, times are left out once they have been seen to be there.

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
  // Until nothing is left to do.
  void RunToTheEnd(api::Duration limit = std::chrono::hours(2));

  // What of an object is neither its user's nor of chance: generation, labels, annotations, owners (which
  // must be there) and the whole status with its conditions as "Available=True Reason: message".
  api::Json Of(std::string_view resource, const std::string& name);
  // The same of the ReplicaSets or pods, in the order in which they were made.
  std::vector<api::Json> All(std::string_view resource);
  // "Deployment Normal ScalingReplicaSet: Scaled up replica set d-HASH1 from 0 to 2 (deployment-controller)",
  // of the controllers of Deployments, ReplicaSets and budgets.
  std::set<std::string> Events();

 private:
  api::Json Shown(const api::Object& object);
  // Hashes become HASH1, HASH2, ... in the order in which their ReplicaSets were made.
  std::string Named(std::string text);

  testbed::Testbed bed_;
};

}  // namespace terrarium::scenarios
