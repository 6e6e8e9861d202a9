#pragma once

// The newest of a controller's own writes for each Deployment, by uid. Until the informers have seen them,
// the view is older than the last decision, and a new decision could repeat it: a ReplicaSet that appears
// smaller than it is would leave room for too many pods. Single-threaded.

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

namespace terrarium::controllers::deployment {

class OwnWrites {
 public:
  struct Revisions {
    std::int64_t deployment = 0;
    std::int64_t replica_sets = 0;
  };

  void DeploymentWritten(const std::string& deployment, std::int64_t revision) {
    std::int64_t& newest = newest_[deployment].deployment;
    newest = std::max(newest, revision);
  }
  void ReplicaSetWritten(const std::string& deployment, std::int64_t revision) {
    std::int64_t& newest = newest_[deployment].replica_sets;
    newest = std::max(newest, revision);
  }
  // `seen`: the revisions of the informers.
  bool AreSeen(const std::string& deployment, const Revisions& seen) const {
    auto it = newest_.find(deployment);
    return it == newest_.end() ||
           (seen.deployment >= it->second.deployment && seen.replica_sets >= it->second.replica_sets);
  }
  void Forget(const std::string& deployment) { newest_.erase(deployment); }

 private:
  std::map<std::string, Revisions> newest_;
};

}  // namespace terrarium::controllers::deployment
