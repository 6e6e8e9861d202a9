#pragma once

// The number of live and of terminating pods of each ReplicaSet, updated on every pod event, so that no sync
// lists all pods. Recreate waits until the old pods are gone, and TerminationComplete counts the terminating
// pods of ReplicaSets that do not report them. Pure, single-threaded.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "api/object.h"
#include "api/object_name.h"

namespace terrarium::controllers::deployment {

class PodCounts {
 public:
  // Pods that have not ended.
  struct Counts {
    std::int64_t live = 0;  // without a deletionTimestamp
    std::int64_t terminating = 0;
  };
  struct Owner {
    std::string uid;
    api::ObjectName name;
  };

  struct Loss {
    Owner owner;
    bool last = false;  // it was the ReplicaSet's last pod, or its last live one
  };

  // The ReplicaSet that has just lost a pod, or a live one to termination: its Deployment may be waiting for
  // that.
  std::optional<Loss> Put(const api::Object& pod);
  std::optional<Loss> Remove(const api::ObjectName& pod);
  void Clear();

  Counts Of(const std::string& replica_set_uid) const;

 private:
  struct Pod {
    Owner owner;
    bool terminating = false;
  };
  static std::optional<Pod> Read(const api::Object& pod);

  std::map<api::ObjectName, Pod> pods_;
  std::map<std::string, Counts> counts_;  // by uid of the ReplicaSet
};

}  // namespace terrarium::controllers::deployment
